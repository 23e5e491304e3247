#pragma once
// Curves on common axes.

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "repl/picture/ticks.h"

namespace quern::picture {

struct Size {
  int columns = 80, rows = 20;  ///< of the whole picture
};

/// Points in their order, joined by lines; one with a coordinate that is not finite is left out, and the curve with it
/// interrupted.
struct Curve {
  std::vector<double> x, y;  ///< as many
  std::string name{};        ///< in the legend

  bool has_point(size_t i) const { return std::isfinite(x[i]) && std::isfinite(y[i]); }
};

/// One curve at least.
struct Plot {
  std::vector<Curve> curves;
  Interval across, up;  ///< all points are in these
};
/// Nothing if no point is finite.
std::optional<Plot> plot_of(std::vector<Curve> curves);

/// Which of a curve's `points` get its mark: all of a few, else some, of `all` curves each others than the next one.
std::vector<size_t> mark_places(size_t points, size_t number, size_t all);

/// Lines of text, the axes with their numbers at the left and below. Several curves have marks, and a line below that
/// tells their names.
std::string plot_text(const Plot& plot, const Size& size, bool is_coloured);

}  // namespace quern::picture
