#include "repl/picture/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "repl/picture/braille.h"
#include "repl/picture/ticks.h"

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

bool is_drawn(const Curve& curve, size_t i) { return std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]); }

/// Which of `count` dots along an axis a number is at.
int dot_at(double number, const Interval& interval, int count) {
  return static_cast<int>(
      std::lround((number / interval.size() - interval.low / interval.size()) * (count - 1)));
}

class Plot {
 public:
  Plot(const Curve& curve, const Interval& across, const Interval& up, const Size& size)
      : across_(across), up_(up), rows_(std::max(kLeastRows, size.rows - 2)) {
    for (const Tick& tick : ticks(up_, std::max(2, rows_ / kRowsOfATick))) {
      up_ticks_.push_back(tick);
      margin_ = std::max(margin_, static_cast<int>(tick.text.size()));
    }
    columns_ = std::max(kLeastColumns, size.columns - margin_ - 2);
    canvas_.emplace(columns_, rows_);
    draw(curve);
  }

  std::string text() const {
    std::vector<std::string> labels(static_cast<size_t>(rows_));
    for (const Tick& tick : up_ticks_) {
      const int from_below = dot_at(tick.at, up_, canvas_->height());
      labels[static_cast<size_t>((canvas_->height() - 1 - from_below) / BrailleCanvas::kDown)] = tick.text;
    }
    std::string out;
    for (int row = 0; row < rows_; ++row) {
      const std::string& label = labels[static_cast<size_t>(row)];
      std::string line(static_cast<size_t>(margin_) - label.size(), ' ');
      line += label + (label.empty() ? " │" : " ┤") + canvas_->row(row);
      line.resize(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out + bottom();
  }

 private:
  void draw(const Curve& curve) {
    bool is_joined = false;
    int last_x = 0, last_y = 0;
    for (size_t i = 0; i < curve.y.size(); ++i) {
      if (!is_drawn(curve, i)) {
        is_joined = false;
        continue;
      }
      const int x = dot_at(curve.x[i], across_, canvas_->width());
      const int y = canvas_->height() - 1 - dot_at(curve.y[i], up_, canvas_->height());
      if (is_joined)
        canvas_->line(last_x, last_y, x, y);
      else
        canvas_->dot(x, y);
      is_joined = true;
      last_x = x;
      last_y = y;
    }
  }

  // The axis, and its numbers, each in the middle below its tick where it has room.
  std::string bottom() const {
    const std::string indent(static_cast<size_t>(margin_) + 1, ' ');
    std::vector<bool> marks(static_cast<size_t>(columns_));
    std::string numbers;
    for (const Tick& tick : ticks(across_, std::max(2, columns_ / kColumnsOfATick))) {
      const int column = dot_at(tick.at, across_, canvas_->width()) / BrailleCanvas::kAcross;
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

  const Interval across_, up_;
  const int rows_;
  int margin_ = 0, columns_ = 0;
  std::vector<Tick> up_ticks_;
  std::optional<BrailleCanvas> canvas_;
};

}  // namespace

std::string plot_text(const Curve& curve, const Size& size) {
  Extremes x, y;
  bool is_empty = true;
  for (size_t i = 0; i < curve.y.size(); ++i) {
    if (!is_drawn(curve, i)) continue;
    is_empty = false;
    x.take(curve.x[i]);
    y.take(curve.y[i]);
  }
  if (is_empty) return "";
  return Plot(curve, interval_of(x.least, x.greatest), interval_of(y.least, y.greatest), size).text();
}

}  // namespace quern::picture
