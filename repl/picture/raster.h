#pragma once
// Pictures as pixels, and pixels as PNG, by Cairo.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "repl/picture/drawing.h"
#include "repl/picture/image.h"

namespace quern::picture {

struct Raster {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels{};  ///< row by row, 0xrrggbb
};

/// Draws with `scale` pixels for a unit of the drawing. Fails if Cairo is not installed.
Result<Raster> raster_of(const Drawing& drawing, double scale, Paper paper = Paper::Light);
/// A pixel of the image as a square of `enlarged` pixels a side; what is no number is magenta.
Raster raster_of(const Image& image, int enlarged);

/// Fails if Cairo is not installed.
Result<std::string> to_png(const Raster& raster);

}  // namespace quern::picture
