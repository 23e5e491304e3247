#pragma once
// The one place where the protocol's positions and byte offsets are converted into each other.

#include <cstdint>
#include <string_view>

#include "frontend/text/source.h"

namespace quern::lsp {

/// What a position's `character` counts: bytes, UTF-16 code units, or code points.
enum class PositionEncoding : uint8_t { Utf8, Utf16, Utf32 };

std::string_view name_of(PositionEncoding encoding);  ///< "utf-16"

/// Lines and characters from 0.
struct Position {
  uint32_t line = 0, character = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};
struct PositionRange {
  Position start, end;
};

/// Positions in one text (valid UTF-8, which the caller keeps alive). LF, CRLF and CR end a line.
class Positions {
 public:
  Positions(std::string_view text, PositionEncoding encoding) : lines_(text), encoding_(encoding) {}

  /// The byte at a position. A character past a line's end is the end of its content, a line past the last
  /// one is the end of the text, and a position inside a character is the character's start.
  uint32_t offset(Position position) const;
  /// The position of a byte. An offset inside an end of line is the end of the line's content.
  Position position(uint32_t offset) const;
  PositionRange range(Range bytes) const { return {position(bytes.begin), position(bytes.end)}; }
  const LineIndex& lines() const { return lines_; }

 private:
  LineIndex lines_;
  PositionEncoding encoding_;
};

}  // namespace quern::lsp
