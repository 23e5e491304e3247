#pragma once
// Round numbers along an axis.

#include <string>
#include <vector>

namespace quern::picture {

/// A range that is not empty.
struct Interval {
  double low = 0, high = 1;
  double size() const { return high - low; }
};
/// From the least to the greatest of finite numbers; around a number that is both.
Interval interval_of(double least, double greatest);

/// The least of 1, 2 and 5 times a power of ten that is at least `size`.
double round_step(double size);

struct Tick {
  double at = 0;
  std::string text;
};
/// About `count` round numbers in an interval, with as many digits as tell them apart.
std::vector<Tick> ticks(const Interval& interval, int count);
/// Numbers with as many digits after the point as a step between them has.
std::string text_by_step(double number, double step);

}  // namespace quern::picture
