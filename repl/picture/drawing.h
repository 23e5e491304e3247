#pragma once
// Lines, areas and words in the plane: what charts are made of before they are an SVG or pixels.

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace quern::picture {

/// From the upper left corner, downwards; 96 to an inch.
struct Point {
  double x = 0, y = 0;
};

/// What a shape is part of: those who draw it know the colour.
struct Tint {
  enum class Of : uint8_t { Words, Axis, Grid, Series };
  Of of = Of::Words;
  size_t series = 0;  ///< of Series
};

/// A line through points.
struct Stroke {
  std::vector<Point> points;
  Tint tint;
  double width = 1;
  std::vector<double> dashes{};  ///< lengths of ink and of gaps by turns; empty for a line without gaps
};
/// The inside of a polygon.
struct Area {
  std::vector<Point> corners;
  Tint tint;
};
struct Words {
  enum class At : uint8_t { Begin, Middle, End };
  std::string text;
  Point at;  ///< of the base line
  At part = At::Begin;
};

struct Drawing {
  double width = 0, height = 0;
  std::vector<std::variant<Stroke, Area, Words>> shapes{};  ///< later ones over earlier ones
};

constexpr double kFontSize = 12;

/// 0xrrggbb, on white paper and on dark: each with enough contrast for its part.
struct Colours {
  uint32_t on_light, on_dark;
};
constexpr Colours kPaper{0xffffff, 0x1b1b1f};
enum class Paper : uint8_t { Light, Dark };
Colours colours_of(const Tint& tint);

/// Series that can be told from each other, by colour and without; more of them begin again.
constexpr size_t kSeriesLooks = 6;
/// The outline of the mark of a series.
std::vector<Point> mark_outline(size_t series, const Point& middle);
/// The same as a character.
std::string_view mark_character(size_t series);
/// Of the line of a series.
std::vector<double> dashes_of(size_t series);

/// For light and dark readers: as they prefer, where they say so (`prefers-color-scheme`), else light.
std::string to_svg(const Drawing& drawing);

}  // namespace quern::picture
