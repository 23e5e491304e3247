#pragma once
// A canvas of dots: each character of a terminal has two columns of four.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::picture {

class BrailleCanvas {
 public:
  static constexpr int kAcross = 2, kDown = 4;  ///< dots of a character

  BrailleCanvas(int columns, int rows);

  int width() const { return columns_ * kAcross; }  ///< in dots
  int height() const { return rows_ * kDown; }
  /// What is drawn from now on is of this pen.
  void take_pen(size_t number) { pen_ = number; }
  /// Sets a dot, from the upper left corner; none outside of the canvas.
  void dot(int x, int y);
  /// Sets the dots of a straight line, its ends included (Bresenham 1965).
  void line(int x0, int y0, int x1, int y1);
  /// A row of characters, with blanks where nothing is set.
  std::string row(int number) const;
  /// A character; a blank where nothing is set.
  std::string cell(int row, int column) const;
  /// The pen that drew in it last.
  size_t pen_at(int row, int column) const { return pens_[cell_at(row, column)]; }

 private:
  size_t cell_at(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns_) + static_cast<size_t>(column);
  }

  const int columns_, rows_;
  size_t pen_ = 0;
  std::vector<size_t> pens_;   ///< by characters
  std::vector<uint8_t> dots_;  ///< by characters: the bits of Unicode's braille patterns
};

}  // namespace quern::picture
