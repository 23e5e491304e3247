#pragma once
// A text that was scanned and parsed beforehand, as bytes: the library's are made when the program is built, so
// that a start neither scans nor parses it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/parse/scanner.h"
#include "frontend/syntax/syntax.h"

namespace quern {

/// The image of a text; nothing for a text in which something is wrong, or of TVM's.
std::optional<std::string> image_of(std::string_view text);

/// What an image holds. Its bytes live longer than what is read of it.
class TextImage {
 public:
  explicit TextImage(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes() const { return bytes_; }

  /// Whether it is the image of this very text, as far as a hash tells.
  bool is_of(std::string_view text) const;
  /// What `scan` finds in the text.
  ScanOutcome scan() const;
  /// What `parse_declaration` makes of a piece.
  ParseOutcome parsed(size_t piece) const;

 private:
  std::string_view bytes_;
};

}  // namespace quern
