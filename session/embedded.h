#pragma once
// Texts that are embedded in the binary at build time.

#include <span>
#include <string_view>

namespace quern {

struct EmbeddedFile {
  std::string_view name, text;
};
/// The library: `stdlib/*.relay`.
std::span<const EmbeddedFile> embedded_stdlib();
/// `docs/errors.md`, alone.
std::span<const EmbeddedFile> embedded_errors();

}  // namespace quern
