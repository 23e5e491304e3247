#pragma once
// A picture of a value, whatever it is of, in the forms that it is shown and stored in.

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
/// A pixel for each of an image. Fails where Cairo is not installed.
Result<std::string> to_png(const Picture& picture);

/// Pixels that there are for a picture.
struct Room {
  int width = 640, height = 640;
  double scale = 1;  ///< pixels for a unit of a chart, where that fits
  Paper paper = Paper::Light;
};
/// Small images enlarged, those that do not fit made smaller. Of a chart it fails where Cairo is not installed.
Result<Raster> to_raster(const Picture& picture, const Room& room);

}  // namespace quern::picture
