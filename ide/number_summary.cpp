#include "ide/number_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/value/value.h"

namespace quern {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The quantiles of numbers, interpolated between the two nearest; sorts the numbers.
void take_quantiles(NumberSummary& summary, std::vector<double>& numbers) {
  std::ranges::sort(numbers);
  for (size_t i = 0; i < summary.quantiles.size(); ++i) {
    const double at = NumberSummary::kQuantiles[i] * static_cast<double>(numbers.size() - 1);
    const auto below = static_cast<size_t>(at);
    const size_t above = std::min(below + 1, numbers.size() - 1);
    const double part = at - static_cast<double>(below);
    summary.quantiles[i] = numbers[below] + (part > 0 ? part * (numbers[above] - numbers[below]) : 0);
  }
}

}  // namespace

NumberSummary summarize(const HostTensor& tensor) {
  NumberSummary summary{.count = tensor.lane_count(), .least = kNone, .greatest = kNone, .mean = kNone};
  summary.deviation = kNone;
  summary.quantiles.fill(kNone);
  const int64_t stride = (summary.count + NumberSummary::kMostSorted - 1) / NumberSummary::kMostSorted;
  std::vector<double> kept;
  double mean = 0, squares = 0, finite = 0;  // Welford (1962)
  for (int64_t i = 0; i < summary.count; ++i) {
    const double value = element_as_double(tensor, i);
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? summary.nans : summary.infinities);
      continue;
    }
    if (value == 0) ++summary.zeros;
    if (i % stride == 0) kept.push_back(value);
    summary.least = finite == 0 ? value : std::min(summary.least, value);
    summary.greatest = finite == 0 ? value : std::max(summary.greatest, value);
    const double distance = value - mean;
    mean += distance / ++finite;
    squares += distance * (value - mean);
  }
  if (finite > 0) {
    summary.mean = mean;
    summary.deviation = std::sqrt(squares / finite);
  }
  if (!kept.empty()) take_quantiles(summary, kept);
  return summary;
}

}  // namespace quern
