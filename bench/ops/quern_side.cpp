#include "bench/ops/quern_side.h"

#include "bench/ops/tensors.h"

namespace quern::bench {

Result<TensorPtr> QuernSide::prepare(const Work& work, const std::vector<TensorPtr>& inputs) {
  CompilerOptions options{Tiers::Best};
  options.winograd_tile = work.winograd_tile;
  if (auto compiled = compile(work.name, work.source, options); !compiled) return compiled.error();
  std::vector<Value> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = work.inputs[i];
    const TensorPtr operand = permuted(inputs[i], input.quern_axes);
    arguments.push_back(
        Value::tensor(input.values == Values::Indices ? operand : with_dtype(operand, input.dtype)));
  }
  take(std::move(arguments));
  auto result = call();
  if (!result) return result.error();
  TensorPtr tensor = result->as_tensor();
  if (!tensor) return Failure{"the result of @main is not a tensor"};
  return permuted(tensor, work.result_axes);
}

}  // namespace quern::bench
