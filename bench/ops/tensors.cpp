#include "bench/ops/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ir/value/scalar.h"

namespace quern::bench {

namespace {

double uniform(Draw& draw) { return (static_cast<double>(draw.bits() >> 11) + 0.5) * 0x1p-53; }

float number(Draw& draw, Values values) {
  if (values == Values::Bytes) return static_cast<float>(draw.integer(-128, 127));
  if (values == Values::Positive) return static_cast<float>(0.1 + 3.9 * uniform(draw));
  // Box and Muller.
  double radius = std::sqrt(-2 * std::log(uniform(draw)));
  return static_cast<float>(radius * std::cos(2 * std::numbers::pi * uniform(draw)));
}

}  // namespace

TensorPtr random_tensor(const Input& input, uint64_t seed) {
  Draw draw(seed);
  if (input.values == Values::Indices) {
    TensorPtr tensor = HostTensor::make(DType::int32(), input.shape);
    for (int32_t& e : tensor->elements<int32_t>()) e = static_cast<int32_t>(draw.integer(0, input.limit - 1));
    return tensor;
  }
  TensorPtr tensor = HostTensor::make(DType::float32(), input.shape);
  for (float& e : tensor->elements<float>()) e = number(draw, input.values);
  return tensor;
}

TensorPtr with_dtype(const TensorPtr& tensor, DType dtype) {
  if (tensor->dtype() == dtype) return tensor;
  TensorPtr result = HostTensor::make(dtype, tensor->shape());
  for (int64_t i = 0; i < tensor->size(); ++i) {
    const Scalar element = Scalar::from_double(dtype, element_as_double(*tensor, i));
    std::memcpy(result->data() + static_cast<size_t>(i) * dtype.bytes(), &element.bits, dtype.bytes());
  }
  return result;
}

TensorPtr permuted(const TensorPtr& tensor, const std::vector<size_t>& axes) {
  if (axes.empty()) return tensor;
  size_t rank = axes.size();
  Shape strides(rank, 1), shape(rank), step(rank), at(rank, 0);
  for (size_t k = rank - 1; k > 0; --k) strides[k - 1] = strides[k] * tensor->shape()[k];
  for (size_t k = 0; k < rank; ++k) {
    shape[k] = tensor->shape()[axes[k]];
    step[k] = strides[axes[k]];
  }
  TensorPtr result = HostTensor::make(tensor->dtype(), shape);
  size_t bytes = tensor->dtype().bytes();
  int64_t from = 0;
  for (int64_t to = 0; to < result->size(); ++to) {
    std::memcpy(result->data() + static_cast<size_t>(to) * bytes,
                tensor->data() + static_cast<size_t>(from) * bytes, bytes);
    for (size_t k = rank; k-- > 0;) {
      from += step[k];
      if (++at[k] < shape[k]) break;
      from -= step[k] * shape[k];
      at[k] = 0;
    }
  }
  return result;
}

}  // namespace quern::bench
