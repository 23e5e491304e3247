#pragma once
// Inputs of the operators' bench.

#include "bench/ops/work.h"

namespace quern::bench {

/// A tensor of the input's plain shape; the same for the same seed.
TensorPtr random_tensor(const Input& input, uint64_t seed);
/// The tensor's elements in another dtype, rounded to nearest.
TensorPtr with_dtype(const TensorPtr& tensor, DType dtype);
/// The tensor with its axes in another order: axis k of the result is axis `axes[k]`; itself for no axes.
TensorPtr permuted(const TensorPtr& tensor, const std::vector<size_t>& axes);

}  // namespace quern::bench
