#pragma once
// The library's texts, embedded in the binary at build time.

#include <span>
#include <string_view>

namespace quern {

struct EmbeddedFile {
  std::string_view name, text;
};
std::span<const EmbeddedFile> embedded_stdlib();

}  // namespace quern
