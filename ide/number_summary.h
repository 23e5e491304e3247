#pragma once
// Statistics of the numbers of a tensor.

#include <array>
#include <cstdint>

#include "ir/value/tensor.h"

namespace quern {

/// All but the counts are of the finite numbers, and NaN where there are none.
struct NumberSummary {
  static constexpr std::array<double, 5> kQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};
  /// The quantiles of more numbers are those of a sample of at most this size, evenly spaced.
  static constexpr int64_t kMostSorted = 1 << 22;

  int64_t count = 0, nans = 0, infinities = 0, zeros = 0;
  double least = 0, greatest = 0, mean = 0;
  double deviation = 0;  ///< the standard deviation, of the population
  std::array<double, kQuantiles.size()> quantiles{};
};
/// After an interrupt (ir/base/interrupt.h), of some of the numbers.
NumberSummary summarize(const HostTensor& tensor);

}  // namespace quern
