// Rows of the recurrent layers (stdlib/recurrent.relay).

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

/// A layer whose weights have `gates` times as many rows as it has units, and which carries `states`.
Row layer(const std::string& name, int64_t gates, size_t states, const std::vector<std::string>& attributes) {
  return {
      name,
      [=](Random& random) {
        DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
        auto tensor = [&](const Shape& shape) { return random.tensor(dtype, shape, Values::Moderate); };
        std::string direction = random.pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
        int64_t d = direction == "bidirectional" ? 2 : 1, steps = random.integer(0, 4),
                sequences = random.integer(1, 3), features = random.integer(1, 5),
                units = random.integer(1, 6);
        Arguments arguments{
            {tensor({steps, sequences, features}), tensor({d, gates * units, features}),
             tensor({d, gates * units, units}),
             tensor(random.chance(0.3) ? Shape{} : Shape{d, 2 * gates * units})},
            fmt::format("{}(%a, %b, %c, %d, %e{}, direction=\"{}\"{}).{}", name, states > 1 ? ", %f" : "",
                        direction, random.pick(attributes), random.integer(0, states))};
        for (size_t k = 0; k < states; ++k)
          arguments.tensors.push_back(tensor(random.chance(0.3) ? Shape{} : Shape{d, sequences, units}));
        return arguments;
      },
      64,
      2e-5,
      {{}, gates > 1 ? std::vector{2 * gates, gates} : std::vector{2 * gates}}};
}

}  // namespace

std::vector<Row> recurrent_rows() {
  // Sums in another order, and what they lose where they cancel, from step to step.
  return {
      layer("nn.rnn", 1, 1, {"", ", activation=\"relu\""}),
      layer("nn.lstm", 4, 2, {"", ", gates=\"ifco\""}),
      layer(
          "nn.gru", 3, 1,
          {"", ", linear_before_reset=True", ", gates=\"rzh\", linear_before_reset=True", ", gates=\"hrz\""}),
  };
}

}  // namespace quern::numeric
