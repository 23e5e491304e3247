#include "bench/models/peer/weights.h"

#include <algorithm>
#include <cmath>

#include "ir/io/data_files.h"

namespace quern::bench {

namespace {

constexpr float kEpsilon = 1e-5F;  // of every batch norm

TensorPtr copy_of(const TensorPtr& tensor) {
  return HostTensor::from<float>(tensor->dtype(), tensor->shape(), tensor->elements<float>());
}

// Multiplies what is at each index of an axis by the factor of that index.
void multiply_along(const TensorPtr& tensor, size_t axis, const std::vector<float>& factors) {
  const Shape& shape = tensor->shape();
  const int64_t inner = element_count(std::span(shape).subspan(axis + 1)), extent = shape[axis];
  std::span<float> elements = tensor->elements<float>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] *= factors[(static_cast<int64_t>(i) / inner) % extent];
}

}  // namespace

Result<Weights> Weights::read(const std::string& file) {
  auto entries = read_tensors(file);
  if (!entries) return entries.error();
  Weights weights;
  weights.tensors_ = {entries->begin(), entries->end()};
  return weights;
}

Filters Weights::filters(const std::string& convolution, const std::string& norm, size_t axis) const {
  const Weights& weights = *this;
  const std::string bias = convolution + ".bias";
  Filters filters{weights[convolution + ".weight"], weights.has(bias) ? weights[bias] : nullptr};
  if (norm.empty()) return filters;
  const auto gamma = weights[norm + ".weight"]->elements<float>();
  const auto beta = weights[norm + ".bias"]->elements<float>();
  const auto mean = weights[norm + ".running_mean"]->elements<float>();
  const auto variance = weights[norm + ".running_var"]->elements<float>();
  std::vector<float> factors, sums;
  for (size_t i = 0; i < gamma.size(); ++i) {
    factors.push_back(gamma[i] / std::sqrt(variance[i] + kEpsilon));
    const float before = filters.bias ? filters.bias->elements<float>()[i] : 0;
    sums.push_back(beta[i] + (before - mean[i]) * factors[i]);
  }
  filters.weight = copy_of(filters.weight);
  multiply_along(filters.weight, axis, factors);
  filters.bias = HostTensor::from<float>(DType::float32(), {static_cast<int64_t>(sums.size())}, sums);
  return filters;
}

Dense Weights::joined(const std::vector<std::string>& names) const {
  std::vector<float> weight, bias;
  int64_t inputs = 0;
  for (const std::string& name : names) {
    const Dense one = dense(name);
    const auto rows = one.weight->elements<float>(), sums = one.bias->elements<float>();
    weight.insert(weight.end(), rows.begin(), rows.end());
    bias.insert(bias.end(), sums.begin(), sums.end());
    inputs = one.inputs();
  }
  const auto outputs = static_cast<int64_t>(bias.size());
  return {HostTensor::from<float>(DType::float32(), {outputs, inputs}, weight),
          HostTensor::from<float>(DType::float32(), {outputs}, bias)};
}

Dense scaled(const Dense& dense, int64_t count, float factor) {
  std::vector<float> factors(dense.outputs(), 1);
  std::fill_n(factors.begin(), count, factor);
  Dense result{copy_of(dense.weight), copy_of(dense.bias), dense.inputs_first};
  multiply_along(result.weight, dense.inputs_first ? 1 : 0, factors);
  multiply_along(result.bias, 0, factors);
  return result;
}

}  // namespace quern::bench
