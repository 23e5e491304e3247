#include "repl/picture/chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "frontend/text/source.h"
#include "ir/base/interrupt.h"
#include "repl/picture/ticks.h"

namespace quern::picture {

namespace {

constexpr double kChartWidth = 640, kChartHeight = 400, kAround = 14, kLegendRow = 20, kBelow = 30;
constexpr double kPixelsOfATickAcross = 80, kPixelsOfATickUp = 50;
/// Of a character: an estimate, as the font is the reader's.
constexpr double kCharacterWidth = 0.62 * kFontSize;
constexpr double kCurveWidth = 1.75;

double width_of(const std::string& text) {
  return kCharacterWidth * static_cast<double>(count_code_points(text));
}

/// The axes with their numbers and lines, and where they put a point.
class Axes {
 public:
  /// `above`: what is kept for a legend.
  Axes(Drawing& drawing, const Interval& across, const Interval& up, double above)
      : across_(across), up_(up) {
    top_ = kAround + above;
    bottom_ = drawing.height - kBelow;
    right_ = drawing.width - kAround;
    const auto up_ticks = ticks(up, static_cast<int>((bottom_ - top_) / kPixelsOfATickUp));
    double widest = 0;
    for (const Tick& tick : up_ticks) widest = std::max(widest, width_of(tick.text));
    left_ = kAround + widest + 6;
    for (const Tick& tick : up_ticks) {
      const double y = this->y(tick.at);
      drawing.shapes.emplace_back(Stroke{{{left_, y}, {right_, y}}, {Tint::Of::Grid}});
      drawing.shapes.emplace_back(Words{tick.text, {left_ - 6, y + kFontSize / 3}, Words::At::End});
    }
    for (const Tick& tick : ticks(across, static_cast<int>((right_ - left_) / kPixelsOfATickAcross))) {
      const double x = this->x(tick.at);
      drawing.shapes.emplace_back(Stroke{{{x, top_}, {x, bottom_}}, {Tint::Of::Grid}});
      drawing.shapes.emplace_back(Stroke{{{x, bottom_}, {x, bottom_ + 4}}, {Tint::Of::Axis}});
      drawing.shapes.emplace_back(Words{tick.text, {x, bottom_ + 6 + kFontSize}, Words::At::Middle});
    }
    drawing.shapes.emplace_back(
        Stroke{{{left_, top_}, {left_, bottom_}, {right_, bottom_}}, {Tint::Of::Axis}});
  }

  double x(double number) const { return left_ + part(number, across_) * (right_ - left_); }
  double y(double number) const { return bottom_ - part(number, up_) * (bottom_ - top_); }
  double bottom() const { return bottom_; }

 private:
  /// Divided first: the difference of numbers may not be one.
  static double part(double number, const Interval& interval) {
    return number / interval.size() - interval.low / interval.size();
  }

  const Interval across_, up_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
};

/// Of the points that follow each other in one column of pixels: the first, the lowest, the highest and the last, which
/// draw the same line (M4 of Jugel et al. 2014).
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> kept;
  for (size_t begin = 0, end; begin < points.size() && !is_interrupted(); begin = end) {
    const double column = std::floor(points[begin].x * 2);
    for (end = begin + 1; end < points.size() && std::floor(points[end].x * 2) == column;) ++end;
    if (end - begin <= 4) {
      kept.insert(kept.end(), points.begin() + static_cast<ptrdiff_t>(begin),
                  points.begin() + static_cast<ptrdiff_t>(end));
      continue;
    }
    const auto first = points.begin() + static_cast<ptrdiff_t>(begin),
               last = points.begin() + static_cast<ptrdiff_t>(end);
    auto [low, high] =
        std::minmax_element(first, last, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (high < low) std::swap(low, high);
    for (const auto& at : {first, low, high, last - 1}) kept.push_back(*at);
  }
  return kept;
}

void draw_curve(Drawing& drawing, const Axes& axes, const Plot& plot, size_t number) {
  const Curve& curve = plot.curves[number];
  const Tint tint{Tint::Of::Series, number};
  std::vector<Point> all, run;
  const auto end_run = [&] {
    std::vector<Point> points = thinned(std::exchange(run, {}));
    all.insert(all.end(), points.begin(), points.end());
    if (points.size() == 1) drawing.shapes.emplace_back(Area{mark_outline(0, points[0]), tint});
    if (points.size() > 1)
      drawing.shapes.emplace_back(Stroke{std::move(points), tint, kCurveWidth, dashes_of(number)});
  };
  for (size_t i = 0; i < curve.y.size() && !is_interrupted(); ++i) {
    if (curve.has_point(i))
      run.push_back({axes.x(curve.x[i]), axes.y(curve.y[i])});
    else
      end_run();
  }
  end_run();
  if (plot.curves.size() == 1) return;
  for (const size_t place : mark_places(all.size(), number, plot.curves.size()))
    drawing.shapes.emplace_back(Area{mark_outline(number, all[place]), tint});
}

/// The names of curves, in rows; how high that is, where nothing is drawn yet.
double draw_legend(Drawing& drawing, const Plot& plot) {
  constexpr double kSample = 30;
  if (plot.curves.size() == 1) return 0;
  double x = kAround, y = kAround + kLegendRow / 2;
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const Tint tint{Tint::Of::Series, i};
    const std::string& name = plot.curves[i].name;
    if (x > kAround && x + kSample + width_of(name) + 8 > drawing.width - kAround) {
      x = kAround;
      y += kLegendRow;
    }
    drawing.shapes.emplace_back(Stroke{{{x, y}, {x + kSample, y}}, tint, kCurveWidth, dashes_of(i)});
    drawing.shapes.emplace_back(Area{mark_outline(i, {x + kSample / 2, y}), tint});
    drawing.shapes.emplace_back(Words{name, {x + kSample + 6, y + kFontSize / 3}});
    x += kSample + width_of(name) + 24;
  }
  return y + kLegendRow / 2 - kAround + 6;
}

}  // namespace

Drawing drawing_of(const Plot& plot) {
  Drawing drawing{kChartWidth, kChartHeight};
  const double legend = draw_legend(drawing, plot);
  drawing.height += legend;
  const Axes axes(drawing, plot.across, plot.up, legend);
  for (size_t i = 0; i < plot.curves.size(); ++i) draw_curve(drawing, axes, plot, i);
  return drawing;
}

Drawing drawing_of(const Histogram& histogram) {
  constexpr double kGap = 1;
  const bool are_numbers = histogram.edges.size() == histogram.counts.size();
  const double margin = are_numbers ? histogram.step / 2 : 0;
  const double most = static_cast<double>(std::max<int64_t>(1, std::ranges::max(histogram.counts)));
  Drawing drawing{kChartWidth, kChartHeight};
  const Axes axes(drawing, {histogram.edges.front() - margin, histogram.edges.back() + margin}, {0, most}, 0);
  for (size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    if (histogram.counts[bin] == 0) continue;
    const double edge = histogram.edges[bin] - margin;
    const double left = axes.x(edge) + kGap, right = axes.x(edge + histogram.step) - kGap,
                 top = axes.y(static_cast<double>(histogram.counts[bin])), bottom = axes.bottom();
    drawing.shapes.emplace_back(
        Area{{{left, top}, {right, top}, {right, bottom}, {left, bottom}}, {Tint::Of::Series}});
  }
  return drawing;
}

}  // namespace quern::picture
