#include "repl/picture/picture.h"

#include <algorithm>
#include <cmath>

#include "repl/picture/chart.h"

namespace quern::picture {

namespace {

/// Pixels of a chart for a unit: charts are read on fine screens too.
constexpr double kChartScale = 2;

struct PictureText {
  const Size& most;
  Ink ink;
  std::string operator()(const Plot& plot) const { return plot_text(plot, most, ink != Ink::Text); }
  std::string operator()(const Histogram& histogram) const { return histogram_text(histogram, most.columns); }
  std::string operator()(const Image& image) const { return image_text(image, most, ink); }
};

struct PictureSvg {
  Result<std::string> operator()(const Image&) const {
    return Failure{"an image is pixels; write it into a `.png`"};
  }
  template <class Chart>
  Result<std::string> operator()(const Chart& chart) const {
    return to_svg(drawing_of(chart));
  }
};

struct PictureRaster {
  Result<Raster> operator()(const Image& image) const { return raster_of(image, 1); }
  template <class Chart>
  Result<Raster> operator()(const Chart& chart) const {
    return raster_of(drawing_of(chart), kChartScale);
  }
};

/// The largest of the factors up to `most` that leaves a picture in the room.
double scale_within(const Room& room, double width, double height, double most) {
  return std::min({most, room.width / width, room.height / height});
}

struct RoomRaster {
  const Room& room;
  Result<Raster> operator()(const Image& image) const {
    constexpr int64_t kSmall = 320;
    const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
    const auto wanted =
        static_cast<double>(std::max<int64_t>(1, kSmall / std::max(image.width, image.height)));
    const double scale = scale_within(room, width, height, wanted);
    if (scale >= 1) return raster_of(image, static_cast<int>(scale));
    const auto scaled = [&](double extent) { return std::max<int64_t>(1, std::lround(extent * scale)); };
    return raster_of(resized(image, scaled(width), scaled(height)), 1);
  }
  template <class Chart>
  Result<Raster> operator()(const Chart& chart) const {
    const Drawing drawing = drawing_of(chart);
    return raster_of(drawing, scale_within(room, drawing.width, drawing.height, room.scale), room.paper);
  }
};

}  // namespace

std::string to_text(const Picture& picture, const Size& most, Ink ink) {
  return std::visit(PictureText{most, ink}, picture);
}

Result<std::string> to_svg(const Picture& picture) { return std::visit(PictureSvg(), picture); }

Result<std::string> to_png(const Picture& picture) {
  const auto raster = std::visit(PictureRaster(), picture);
  if (!raster) return raster.error();
  return to_png(*raster);
}

Result<Raster> to_raster(const Picture& picture, const Room& room) {
  return std::visit(RoomRaster{room}, picture);
}

}  // namespace quern::picture
