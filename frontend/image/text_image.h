#pragma once
// A text scanned and parsed in advance, as bytes: the library's images are made at build time, so that
// starting neither scans nor parses it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/parse/scanner.h"
#include "frontend/syntax/syntax.h"

namespace quern {

/// The image of a text; nothing for a text with problems, or one from TVM.
std::optional<std::string> image_of(std::string_view text);

/// Reads an image. Its bytes must outlive everything read from it.
class TextImage {
 public:
  explicit TextImage(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes() const { return bytes_; }

  /// The result of `scan` on the text.
  ScanOutcome scan() const;
  /// The result of `parse_declaration` on a piece.
  ParseOutcome parsed(size_t piece) const;

 private:
  std::string_view bytes_;
};

}  // namespace quern
