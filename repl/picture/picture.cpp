#include "repl/picture/picture.h"

#include "repl/picture/chart.h"
#include "repl/picture/raster.h"

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

}  // namespace quern::picture
