#pragma once
// Source texts: byte ranges, lines and columns.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Bytes [begin, end) of a text.
struct Range {
  uint32_t begin = 0, end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// A human-readable position: lines and columns from 1, columns in code points.
struct LineColumn {
  uint32_t line = 1, column = 1;
};

/// The line starts of a text. LF, CRLF and CR end a line.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  /// The position of a byte offset (offsets past the end count as the end).
  LineColumn locate(uint32_t offset) const;
  /// The bytes of a line (from 1) without its end-of-line characters; empty past the last line.
  std::string_view line(uint32_t number) const;
  /// The offset at which a line (from 0) begins; the text's size past the last line.
  uint32_t line_start(uint32_t line_from_0) const;
  uint32_t line_count() const { return static_cast<uint32_t>(starts_.size()); }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;  ///< the caller keeps it alive; a byte order mark at its start takes no column
  std::vector<uint32_t> starts_;
};

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The length of the valid UTF-8 sequence at a byte (1 to 4), or 0 (overlong forms, surrogates and values
/// past U+10FFFF are invalid).
size_t utf8_length(std::string_view text, size_t offset);
/// The offset of the first byte that is not valid UTF-8, or the size if there is none.
size_t first_invalid_utf8(std::string_view text);
/// The text with each byte that is not valid UTF-8 replaced by SUB (0x1A), which preserves offsets.
std::string with_valid_utf8(std::string text);
/// The number of code points; a byte that is not part of valid UTF-8 counts as one.
uint32_t count_code_points(std::string_view text);

}  // namespace quern
