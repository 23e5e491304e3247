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
/// The images of the library's texts (frontend/image/text_image.h), in the same order.
std::span<const std::string_view> embedded_images();
/// The library's models, `stdlib/models/*.relay`, which are parsed where they are imported.
std::span<const EmbeddedFile> embedded_models();
/// Just `docs/errors.md`.
std::span<const EmbeddedFile> embedded_errors();

}  // namespace quern
