#include "repl/picture/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "frontend/text/source.h"
#include "ir/base/interrupt.h"
#include "repl/picture/braille.h"
#include "repl/picture/drawing.h"

namespace quern::picture {

namespace {

constexpr int kRowsOfATick = 4, kColumnsOfATick = 12;
constexpr int kLeastColumns = 8, kLeastRows = 2;

/// The least and the greatest coordinate of what is drawn.
struct Extremes {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  void take(double number) {
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
};

/// Which of `count` dots along an axis a number is at.
int dot_at(double number, const Interval& interval, int count) {
  return static_cast<int>(
      std::lround((number / interval.size() - interval.low / interval.size()) * (count - 1)));
}

class TextPlot {
 public:
  TextPlot(const Plot& plot, const Size& size, bool is_coloured)
      : plot_(plot), is_coloured_(is_coloured && plot.curves.size() > 1) {
    rows_ = std::max(kLeastRows, size.rows - 2 - (plot.curves.size() > 1 ? 1 : 0));
    for (const Tick& tick : ticks(plot.up, std::max(2, rows_ / kRowsOfATick))) {
      up_ticks_.push_back(tick);
      margin_ = std::max(margin_, static_cast<int>(tick.text.size()));
    }
    columns_ = std::max(kLeastColumns, size.columns - margin_ - 2);
    canvas_.emplace(columns_, rows_);
    for (size_t i = 0; i < plot.curves.size(); ++i) draw(i);
  }

  std::string text() const {
    std::vector<std::string> labels(static_cast<size_t>(rows_));
    for (const Tick& tick : up_ticks_) {
      const int from_below = dot_at(tick.at, plot_.up, canvas_->height());
      labels[static_cast<size_t>((canvas_->height() - 1 - from_below) / BrailleCanvas::kDown)] = tick.text;
    }
    std::string out;
    for (int row = 0; row < rows_; ++row) {
      const std::string& label = labels[static_cast<size_t>(row)];
      std::string line(static_cast<size_t>(margin_) - label.size(), ' ');
      line += label + (label.empty() ? " │" : " ┤") + row_text(row);
      line.resize(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    out += bottom();
    if (plot_.curves.size() > 1) out += legend();
    return out;
  }

 private:
  struct Dot {
    int x, y;
  };

  void draw(size_t number) {
    const Curve& curve = plot_.curves[number];
    canvas_->take_pen(number);
    const bool has_marks = plot_.curves.size() > 1;
    std::vector<Dot> dots;  // where marks may be
    std::optional<Dot> last;
    for (size_t i = 0; i < curve.y.size() && !is_interrupted(); ++i) {
      if (!curve.has_point(i)) {
        last.reset();
        continue;
      }
      const Dot dot{dot_at(curve.x[i], plot_.across, canvas_->width()),
                    canvas_->height() - 1 - dot_at(curve.y[i], plot_.up, canvas_->height())};
      if (last)
        canvas_->line(last->x, last->y, dot.x, dot.y);
      else
        canvas_->dot(dot.x, dot.y);
      last = dot;
      if (has_marks) dots.push_back(dot);
    }
    if (!has_marks) return;
    for (const size_t place : mark_places(dots.size(), number, plot_.curves.size()))
      marks_[{dots[place].y / BrailleCanvas::kDown, dots[place].x / BrailleCanvas::kAcross}] = number;
  }

  /// The escape sequence that begins what is of a curve: six colours that every terminal has.
  std::string colour(size_t number) const {
    constexpr std::array<int, kSeriesLooks> kColours{36, 33, 32, 35, 34, 31};
    return is_coloured_ ? fmt::format("\x1b[{}m", kColours[number % kSeriesLooks]) : "";
  }
  std::string no_colour() const { return is_coloured_ ? "\x1b[0m" : ""; }

  std::string row_text(int row) const {
    if (plot_.curves.size() == 1) return canvas_->row(row);
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const auto mark = marks_.find({row, column});
      const std::string cell =
          mark != marks_.end() ? std::string(mark_character(mark->second)) : canvas_->cell(row, column);
      const size_t number = mark != marks_.end() ? mark->second : canvas_->pen_at(row, column);
      text += cell == " " ? cell : colour(number) + cell + no_colour();
    }
    return text;
  }

  /// The names behind the marks, in as many lines as they take.
  std::string legend() const {
    const std::string indent(static_cast<size_t>(margin_) + 2, ' ');
    std::string out, line;
    size_t cells = 0;
    for (size_t i = 0; i < plot_.curves.size(); ++i) {
      const std::string& name = plot_.curves[i].name;
      const size_t wide = count_code_points(name) + 2;
      if (!line.empty() && cells + wide + 3 > static_cast<size_t>(columns_)) {
        out += indent + line + "\n";
        line.clear();
        cells = 0;
      }
      line +=
          (line.empty() ? "" : "   ") + colour(i) + std::string(mark_character(i)) + no_colour() + " " + name;
      cells += wide + 3;
    }
    return out + indent + line + "\n";
  }

  // The axis, and its numbers, each in the middle below its tick where it has room.
  std::string bottom() const {
    const std::string indent(static_cast<size_t>(margin_) + 1, ' ');
    std::vector<bool> marks(static_cast<size_t>(columns_));
    std::string numbers;
    for (const Tick& tick : ticks(plot_.across, std::max(2, columns_ / kColumnsOfATick))) {
      const int column = dot_at(tick.at, plot_.across, canvas_->width()) / BrailleCanvas::kAcross;
      const auto size = static_cast<int>(tick.text.size());
      const int begin = std::clamp(column - size / 2, 0, std::max(0, columns_ - size));
      if (!numbers.empty() && begin < static_cast<int>(numbers.size()) + 2) continue;
      marks[static_cast<size_t>(column)] = true;
      numbers.resize(static_cast<size_t>(begin), ' ');
      numbers += tick.text;
    }
    std::string axis;
    for (const bool is_marked : marks) axis += is_marked ? "┬" : "─";
    return indent + "└" + axis + "\n" + indent + " " + numbers + "\n";
  }

  const Plot& plot_;
  const bool is_coloured_;
  int rows_ = 0, margin_ = 0, columns_ = 0;
  std::vector<Tick> up_ticks_;
  std::optional<BrailleCanvas> canvas_;
  std::map<std::pair<int, int>, size_t> marks_;  ///< by row and column, whose they are
};

}  // namespace

std::optional<Plot> plot_of(std::vector<Curve> curves) {
  Extremes x, y;
  bool is_empty = true;
  for (const Curve& curve : curves)
    for (size_t i = 0; i < curve.y.size() && !is_interrupted(); ++i) {
      if (!curve.has_point(i)) continue;
      is_empty = false;
      x.take(curve.x[i]);
      y.take(curve.y[i]);
    }
  if (is_empty) return std::nullopt;
  return Plot{std::move(curves), interval_of(x.least, x.greatest), interval_of(y.least, y.greatest)};
}

std::vector<size_t> mark_places(size_t points, size_t number, size_t all) {
  constexpr size_t kFew = 8, kMarks = 5;
  std::vector<size_t> places;
  if (points <= kFew) {
    for (size_t i = 0; i < points; ++i) places.push_back(i);
    return places;
  }
  for (size_t i = 0; i < kMarks; ++i) {
    const double part = (static_cast<double>(number) + 0.5) / static_cast<double>(all);
    places.push_back(
        static_cast<size_t>((static_cast<double>(i) + part) / kMarks * static_cast<double>(points - 1)));
  }
  return places;
}

std::string plot_text(const Plot& plot, const Size& size, bool is_coloured) {
  return TextPlot(plot, size, is_coloured).text();
}

}  // namespace quern::picture
