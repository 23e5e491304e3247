// Pictures as drawings, SVG, pixels and PNG.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "repl/picture/chart.h"
#include "repl/picture/picture.h"
#include "repl/picture/raster.h"

namespace quern::picture {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

size_t times(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++count;
  return count;
}

Plot of(std::vector<Curve> curves) { return *plot_of(std::move(curves)); }

Image pixels(int64_t width, int64_t height, int channels, std::vector<float> numbers) {
  return {.width = width, .height = height, .channels = channels, .numbers = std::move(numbers)};
}

bool has_pixel(const Raster& raster, uint32_t colour) {
  return std::ranges::find(raster.pixels, colour) != raster.pixels.end();
}

TEST(PictureSvg, OfACurveHasAxesAndNumbers) {
  const std::string svg = *to_svg(Picture(of({{{0, 1, 2}, {0, 5, 10}, "%x"}})));
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_EQ(times(svg, "class=\"q-l-series0\""), 1);
  EXPECT_THAT(svg, HasSubstr(">10</text>"));
  EXPECT_THAT(svg, HasSubstr(">2.0</text>"));
  // A curve alone needs no name and no marks.
  EXPECT_THAT(svg, Not(HasSubstr("%x")));
  EXPECT_THAT(svg, Not(HasSubstr("<polygon")));
}

TEST(PictureSvg, OfCurvesHasTheirNamesMarksAndDashes) {
  const std::string svg =
      *to_svg(Picture(of({{{0, 1}, {0, 5}, "%a < \"b\" & c"}, {{0, 1}, {5, 0}, "\x1b%d"}})));
  EXPECT_THAT(svg, HasSubstr(">%a &lt; &quot;b&quot; &amp; c</text>"));
  EXPECT_THAT(svg, HasSubstr(">\uFFFD%d</text>"));
  // The line and one in the legend; marks of both points and one in the legend.
  EXPECT_EQ(times(svg, "<polyline class=\"q-l-series1\""), 2);
  EXPECT_EQ(times(svg, "<polygon class=\"q-f-series1\""), 3);
  EXPECT_EQ(times(svg, "stroke-dasharray"), 2);
}

TEST(PictureSvg, InterruptsCurvesAndShowsSinglePoints) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = *to_svg(Picture(of({{{0, 1, 2, 3, 4}, {0, 1, none, 3, none}}})));
  EXPECT_EQ(times(svg, "<polyline class=\"q-l-series0\""), 1);
  EXPECT_EQ(times(svg, "<polygon class=\"q-f-series0\""), 1);
}

TEST(PictureSvg, OfAMillionPointsIsSmall) {
  Curve curve;
  for (int i = 0; i < 1'000'000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(std::sin(i * 0.01) + (i == 777'777 ? 5 : 0));
  }
  const Drawing drawing = drawing_of(of({curve}));
  EXPECT_LT(to_svg(drawing).size(), 200'000);
  // The one point that stands out is still there: the curve goes up to the top of the axes.
  const auto& stroke = std::get<Stroke>(drawing.shapes.back());
  EXPECT_LT(std::ranges::min(stroke.points, {}, &Point::y).y, 20);
}

TEST(PictureSvg, OfADistributionHasItsBars) {
  const std::string svg = *to_svg(Picture(histogram_of({0, 0.1, 0.2, 0.25, 0.6, 0.9}, false)));
  EXPECT_EQ(times(svg, "<polygon class=\"q-f-series0\""), 4);
  const std::string whole = *to_svg(Picture(histogram_of({3, 5, 5}, true)));
  EXPECT_EQ(times(whole, "<polygon class=\"q-f-series0\""), 2);
}

TEST(PicturePixels, OfACurveAreInItsColourOnPaper) {
  const auto raster = raster_of(drawing_of(of({{{0, 1, 2}, {0, 5, 10}}})), 2);
  ASSERT_TRUE(raster) << raster.error().message;
  EXPECT_EQ(raster->width, 1280);
  EXPECT_EQ(raster->height, 800);
  EXPECT_EQ(raster->pixels.front() & 0xffffff, kPaper.on_light);
  EXPECT_TRUE(has_pixel(*raster, 0xff000000 | colours_of({Tint::Of::Series, 0}).on_light) ||
              has_pixel(*raster, colours_of({Tint::Of::Series, 0}).on_light));
}

TEST(PicturePixels, OfAnImageAreItsNumbers) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Raster grey = raster_of(pixels(2, 2, 1, {0, 1, 0.5F, none}), 1);
  EXPECT_EQ(grey.pixels, (std::vector<uint32_t>{0x000000, 0xffffff, 0x808080, 0xff00ff}));
  const Raster large = raster_of(pixels(1, 2, 3, {1, 0, 0, 0, 0, 1}), 2);
  EXPECT_EQ(large.pixels, (std::vector<uint32_t>{0xff0000, 0xff0000, 0xff0000, 0xff0000, 0x0000ff, 0x0000ff,
                                                 0x0000ff, 0x0000ff}));
}

TEST(PicturePng, HasAPixelForEachOfAnImage) {
  const auto png = to_png(Picture(pixels(3, 2, 1, {0, 0, 0, 1, 1, 1})));
  ASSERT_TRUE(png) << png.error().message;
  // The signature, then the header: its length and name, the width and the height.
  EXPECT_EQ(png->substr(0, 24), std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02", 24));
  EXPECT_FALSE(to_svg(Picture(pixels(3, 2, 1, {0, 0, 0, 1, 1, 1}))));
}

}  // namespace
}  // namespace quern::picture
