#include "repl/picture/braille.h"

#include <array>
#include <cstdlib>

namespace quern::picture {

BrailleCanvas::BrailleCanvas(int columns, int rows)
    : columns_(columns),
      rows_(rows),
      pens_(static_cast<size_t>(columns) * static_cast<size_t>(rows)),
      dots_(pens_.size()) {}

void BrailleCanvas::dot(int x, int y) {
  // Unicode numbers the dots by columns, but for the last row, which was added later.
  constexpr std::array<std::array<uint8_t, kAcross>, kDown> kBits{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  if (x < 0 || y < 0 || x >= width() || y >= height()) return;
  const size_t cell = cell_at(y / kDown, x / kAcross);
  pens_[cell] = pen_;
  dots_[cell] |= kBits[static_cast<size_t>(y % kDown)][static_cast<size_t>(x % kAcross)];
}

void BrailleCanvas::line(int x0, int y0, int x1, int y1) {
  const int across = std::abs(x1 - x0), down = -std::abs(y1 - y0);
  const int step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
  for (int error = across + down;;) {
    dot(x0, y0);
    if (x0 == x1 && y0 == y1) return;
    const int twice = 2 * error;
    if (twice >= down) {
      error += down;
      x0 += step_x;
    }
    if (twice <= across) {
      error += across;
      y0 += step_y;
    }
  }
}

std::string BrailleCanvas::cell(int row, int column) const {
  const unsigned bits = dots_[cell_at(row, column)];
  if (bits == 0) return " ";
  // U+2800 and the bits, in UTF-8.
  return {'\xe2', static_cast<char>(0xa0 | bits >> 6), static_cast<char>(0x80 | (bits & 0x3f))};
}

std::string BrailleCanvas::row(int number) const {
  std::string text;
  for (int column = 0; column < columns_; ++column) text += cell(number, column);
  return text;
}

}  // namespace quern::picture
