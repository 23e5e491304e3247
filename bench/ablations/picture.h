#pragma once
// The picture of a table of factors: a group of bars for each row, on a logarithmic scale.

#include <string>
#include <vector>

namespace quern::bench {

struct Bars {
  std::string row;
  std::vector<double> lengths;  ///< factors above 0, one for each series
};

/// As an SVG. Bars begin at 1 and end at their factor, at most 4; the factor stands behind each.
std::string bars(const std::vector<std::string>& series, const std::vector<Bars>& rows);

}  // namespace quern::bench
