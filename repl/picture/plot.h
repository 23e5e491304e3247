#pragma once
// A curve on axes.

#include <string>
#include <vector>

namespace quern::picture {

struct Size {
  int columns = 80, rows = 20;  ///< of the whole picture
};

/// Points in their order, joined by lines; one with a coordinate that is not finite is left out, and the curve with it
/// interrupted.
struct Curve {
  std::vector<double> x, y;  ///< as many
};

/// Lines of text, the axes with their numbers at the left and below. "" where no point is finite.
std::string plot_text(const Curve& curve, const Size& size);

}  // namespace quern::picture
