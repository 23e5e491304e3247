#pragma once
// Whether results agree.

#include "ir/value/tensor.h"

namespace quern::bench {

/// The largest difference of two tensors of equally many elements, relative to the largest element of the
/// second; infinite where their sizes differ or one alone is not a number.
double difference(const HostTensor& tensor, const HostTensor& reference);

}  // namespace quern::bench
