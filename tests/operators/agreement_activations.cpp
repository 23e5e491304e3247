#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

Row activation(const std::string& name, uint64_t ulps, double absolute, const std::string& more = "") {
  return {name,
          [=](Random& random) {
            return Arguments{{random.tensor(random.pick(kFloats), random.shape(), Values::Any)},
                             fmt::format("{}(%a{})", name, random.chance(0.5) ? more : "")};
          },
          ulps, absolute};
}

}  // namespace

std::vector<Row> activation_rows() {
  return {
      // For what is far below 0 the sum of 1 and `erf` or `tanh` cancels.
      activation("nn.gelu", 4, 2e-6, ", approximate=\"tanh\""),
      activation("nn.silu", 4, 0),
      activation("nn.elu", 6, 0, ", alpha=0.5"),
      activation("nn.selu", 6, 0),
      activation("nn.hardsigmoid", 0, 0),
      activation("nn.hardswish", 0, 0),
      activation("nn.mish", 8, 0),
      activation("nn.softsign", 0, 0),
      activation("nn.celu", 6, 0, ", alpha=0.5"),
      activation("nn.shrink", 0, 0, ", lambd=1.0, bias=0.25"),
      activation("nn.threshold", 0, 0, ", threshold=-1.0, value=3.0"),
      {"nn.hardmax",
       [](Random& random) {
         Shape shape = random.shape(1, 4, 1);
         auto rank = static_cast<int64_t>(shape.size());
         return Arguments{
             {random.tensor(random.pick(kFloats), shape, Values::SmallIntegers)},
             fmt::format("nn.hardmax(%a, axis={})", random.signed_axis(random.integer(0, rank - 1), rank))};
       }},
  };
}

}  // namespace quern::numeric
