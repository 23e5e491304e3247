#pragma once
// How numbers are distributed, as bars.

#include <cstdint>
#include <string>
#include <vector>

namespace quern::picture {

struct Histogram {
  /// Where bins begin, and where the last one ends; without that, bins hold one number each.
  std::vector<double> edges;
  std::vector<int64_t> counts;
  double step = 1;  ///< between edges
};

/// Of finite numbers, one at least, in at most `most` bins between round edges, fewer of few numbers. `are_whole`: they
/// are integers, of which each has its own bin where they are near each other.
Histogram histogram_of(const std::vector<double>& numbers, bool are_whole, int most = 20);

/// A line for each bin: its range, its count and a bar; as wide as `columns`.
std::string histogram_text(const Histogram& histogram, int columns);

}  // namespace quern::picture
