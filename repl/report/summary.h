#pragma once
// What there is to know of the numbers in tensors.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/value/value.h"

namespace quern {

/// All but the counts are of the finite numbers, and NaN where there are none.
struct NumberSummary {
  static constexpr std::array<double, 5> kQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};
  /// Of more numbers, quantiles are those of so many, taken at even distances.
  static constexpr int64_t kMostSorted = 1 << 22;

  int64_t count = 0, nans = 0, infinities = 0, zeros = 0;
  double least = 0, greatest = 0, mean = 0;
  double deviation = 0;  ///< the root of the mean square of the distances from the mean
  std::array<double, kQuantiles.size()> quantiles{};
};
NumberSummary summarize(const HostTensor& tensor);

/// A tensor, single numbers included, inside of a value.
struct InnerTensor {
  std::string name;  ///< the way to it: "conv1.weight", ".0", "[2]"; "" of a value that is one
  TensorPtr tensor;
};
/// The tensors of a value in the order in which they are printed, `most` at the most; of functions none.
std::vector<InnerTensor> tensors_in(const Value& value, size_t most);

/// One tensor in lines; several in a table, with a line for all of them.
std::string summary_text(const std::vector<InnerTensor>& tensors);

}  // namespace quern
