#include "repl/pixels/sixel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "repl/pixels/palette.h"

namespace quern::picture {

namespace {

constexpr int kBand = 6;  // rows of pixels that are sent together

/// A character for each column of a band; its bits are the rows that have the colour, the upper one first.
using Columns = std::vector<uint8_t>;

/// The columns without those at the end that have nothing; a run of more than three is shorter as its number.
std::string runs_text(const Columns& columns) {
  constexpr size_t kWritten = 3;
  constexpr char kNothing = '?';
  size_t used = columns.size();
  while (used > 0 && columns[used - 1] == 0) --used;
  std::string text;
  for (size_t at = 0, end; at < used; at = end) {
    for (end = at + 1; end < used && columns[end] == columns[at];) ++end;
    const char character = static_cast<char>(kNothing + columns[at]);
    if (end - at <= kWritten)
      text.append(end - at, character);
    else
      text += fmt::format("!{}{}", end - at, character);
  }
  return text;
}

/// The rows from `top` on: colour by colour, each from the left edge.
std::string band_text(const Raster& raster, const Palette& palette, int top) {
  std::map<uint8_t, Columns> columns;
  const auto width = static_cast<size_t>(raster.width);
  for (int y = top; y < std::min(top + kBand, raster.height); ++y)
    for (size_t x = 0; x < width; ++x) {
      Columns& of_colour = columns[palette.of_pixels[static_cast<size_t>(y) * width + x]];
      of_colour.resize(width);
      of_colour[x] = static_cast<uint8_t>(of_colour[x] | 1U << (y - top));
    }
  std::string text;
  for (const auto& [colour, of_colour] : columns)
    text += fmt::format("{}#{}{}", text.empty() ? "" : "$", colour, runs_text(of_colour));
  return text;
}

/// Of 255 in percent.
uint32_t percent(uint32_t channel) { return ((channel & 0xff) * 100 + 127) / 255; }

}  // namespace

std::string to_sixel(const Raster& raster) {
  const Palette palette = palette_of(raster);
  std::string out = fmt::format("\x1bP0;1;0q\"1;1;{};{}", raster.width, raster.height);
  for (size_t i = 0; i < palette.colours.size(); ++i) {
    const uint32_t colour = palette.colours[i];
    out += fmt::format("#{};2;{};{};{}", i, percent(colour >> 16), percent(colour >> 8), percent(colour));
  }
  for (int top = 0; top < raster.height; top += kBand)
    out += (top == 0 ? "" : "-") + band_text(raster, palette, top);
  return out + "\x1b\\";
}

}  // namespace quern::picture
