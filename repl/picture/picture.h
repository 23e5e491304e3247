#pragma once
// A picture of any value, in the formats for display and files.

#include <string>
#include <string_view>
#include <variant>

#include "ir/base/result.h"
#include "repl/picture/histogram.h"
#include "repl/picture/image.h"
#include "repl/picture/plot.h"
#include "repl/picture/raster.h"

namespace quern::picture {

using Picture = std::variant<Plot, Histogram, Image>;

/// Lines of characters.
std::string to_text(const Picture& picture, const Size& most, Ink ink);
/// Fails for an image.
Result<std::string> to_svg(const Picture& picture);
/// One pixel for each pixel of an image. Fails if Cairo is not installed.
Result<std::string> to_png(const Picture& picture);

/// The pixels available for a picture.
struct Room {
  int width = 640, height = 640;
  double scale = 1;  ///< pixels for a unit of a chart, where that fits
  Paper paper = Paper::Light;
};
/// Small images enlarged, those that do not fit made smaller. Of a chart it fails where Cairo is not installed.
Result<Raster> to_raster(const Picture& picture, const Room& room);

}  // namespace quern::picture
