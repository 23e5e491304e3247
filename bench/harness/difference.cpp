#include "bench/harness/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/value/scalar.h"

namespace quern::bench {

double difference(const HostTensor& tensor, const HostTensor& reference) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (tensor.size() != reference.size()) return kInfinite;
  double largest = 0, apart = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double a = element_as_double(tensor, i), b = element_as_double(reference, i);
    if (std::isnan(a) != std::isnan(b)) return kInfinite;
    if (std::isfinite(b)) largest = std::max(largest, std::abs(b));
    if (!std::isnan(a) && a != b) apart = std::max(apart, std::abs(a - b));
  }
  return apart == 0 ? 0 : apart / largest;
}

}  // namespace quern::bench
