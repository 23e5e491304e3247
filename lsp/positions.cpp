#include "lsp/positions.h"

#include <algorithm>

namespace quern::lsp {

namespace {

// The size of the character that begins with a byte of valid UTF-8: in bytes, and in the units of an
// encoding.
uint32_t bytes_of(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
uint32_t units_of(char lead, PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::Utf8: return bytes_of(lead);
    case PositionEncoding::Utf16: return bytes_of(lead) == 4 ? 2 : 1;
    case PositionEncoding::Utf32: return 1;
  }
  return 1;
}

}  // namespace

std::string_view name_of(PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::Utf8: return "utf-8";
    case PositionEncoding::Utf16: return "utf-16";
    case PositionEncoding::Utf32: return "utf-32";
  }
  return "";
}

uint32_t Positions::offset(Position position) const {
  if (position.line >= lines_.line_count()) return static_cast<uint32_t>(lines_.text().size());
  std::string_view line = lines_.line(position.line + 1);
  uint32_t at = 0, units = 0;
  while (at < line.size()) {
    units += units_of(line[at], encoding_);
    if (units > position.character) break;
    at += bytes_of(line[at]);
  }
  return lines_.line_start(position.line) + std::min(at, static_cast<uint32_t>(line.size()));
}

Position Positions::position(uint32_t offset) const {
  uint32_t number = lines_.locate(offset).line;
  std::string_view line = lines_.line(number);
  uint32_t start = lines_.line_start(number - 1);
  uint32_t end = std::min(offset - std::min(offset, start), static_cast<uint32_t>(line.size()));
  Position result{number - 1, 0};
  for (uint32_t at = 0; at < line.size() && at + bytes_of(line[at]) <= end; at += bytes_of(line[at]))
    result.character += units_of(line[at], encoding_);
  return result;
}

}  // namespace quern::lsp
