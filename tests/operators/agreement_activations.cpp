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
  };
}

}  // namespace quern::numeric
