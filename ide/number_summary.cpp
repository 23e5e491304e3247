#include "ide/number_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/value/value.h"

namespace quern {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The quantiles of numbers, interpolated between the two nearest; orders the numbers. Selects each one among those that
/// are not less than the one before, which takes less than to sort them and can be stopped in between.
void take_quantiles(NumberSummary& summary, std::vector<double>& numbers) {
  auto first = numbers.begin();
  for (size_t i = 0; i < summary.quantiles.size() && !is_interrupted(); ++i) {
    const double at = NumberSummary::kQuantiles[i] * static_cast<double>(numbers.size() - 1);
    const auto below = numbers.begin() + static_cast<ptrdiff_t>(at);
    const double part = at - std::floor(at);
    std::nth_element(first, below, numbers.end());
    summary.quantiles[i] = *below;
    if (part > 0) summary.quantiles[i] += part * (*std::min_element(below + 1, numbers.end()) - *below);
    first = below;
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
  for (int64_t i = 0; i < summary.count && !is_interrupted(); ++i) {
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
