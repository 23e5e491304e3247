#pragma once
// What a model's @main takes, from the file that PyTorch's side wrote, and constants that are made of it once.

#include <map>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/tensor.h"

namespace quern::bench {

/// A convolution's filters; `bias` is null where it has none.
struct Filters {
  TensorPtr weight, bias;
};

/// A dense layer: outputs x inputs or, where `inputs_first`, the transpose.
struct Dense {
  TensorPtr weight, bias;  ///< no bias: null
  bool inputs_first = false;

  int64_t outputs() const { return weight->shape()[inputs_first ? 1 : 0]; }
  int64_t inputs() const { return weight->shape()[inputs_first ? 0 : 1]; }
};

/// By names as the Relay text has them, without `weights.` before those of weights. A name that is not there is a bug
/// of the model's function and throws.
class Weights {
 public:
  static Result<Weights> read(const std::string& file);

  const TensorPtr& input(const std::string& name) const { return tensors_.at(name); }
  const TensorPtr& operator[](const std::string& name) const { return tensors_.at("weights." + name); }
  bool has(const std::string& name) const { return tensors_.contains("weights." + name); }

  /// With the batch norm that follows it folded in, where `norm` is not empty; the outputs are this axis.
  Filters filters(const std::string& convolution, const std::string& norm, size_t axis = 0) const;

  Dense dense(const std::string& name) const { return {(*this)[name + ".weight"], (*this)[name + ".bias"]}; }
  /// Layers of the same inputs as one, their outputs after each other.
  Dense joined(const std::vector<std::string>& names) const;

 private:
  std::map<std::string, TensorPtr> tensors_;
};

/// The layer with its first `count` outputs multiplied.
Dense scaled(const Dense& dense, int64_t count, float factor);

}  // namespace quern::bench
