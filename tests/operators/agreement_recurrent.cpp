// Rows of the recurrent layers (stdlib/recurrent.relay).

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

/// A layer whose weights have `gates` times as many rows as it has units, and which carries `states`. Behind the biases stand
/// `peepholes` weights a unit, if any.
Row layer(const std::string& name, int64_t gates, size_t states, const std::vector<std::string>& attributes,
          int64_t peepholes = 0) {
  return {
      name,
      [=](Random& random) {
        DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
        auto tensor = [&](const Shape& shape) { return random.tensor(dtype, shape, Values::Moderate); };
        std::string direction = random.pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
        int64_t d = direction == "bidirectional" ? 2 : 1, steps = random.integer(0, 4),
                sequences = random.integer(1, 3), features = random.integer(1, 5),
                units = random.integer(1, 6);
        Arguments arguments{{tensor({steps, sequences, features}), tensor({d, gates * units, features}),
                             tensor({d, gates * units, units}),
                             tensor(random.chance(0.3) ? Shape{} : Shape{d, 2 * gates * units})},
                            ""};
        int64_t part = random.integer(0, states);
        std::string more = random.pick(attributes);
        if (peepholes > 0)
          arguments.tensors.push_back(tensor(random.chance(0.2) ? Shape{0} : Shape{d, peepholes * units}));
        for (size_t k = 0; k < states; ++k)
          arguments.tensors.push_back(tensor(random.chance(0.3) ? Shape{} : Shape{d, sequences, units}));
        std::string operands;
        for (size_t k = 0; k < arguments.tensors.size(); ++k)
          operands += fmt::format("{}%{}", k > 0 ? ", " : "", static_cast<char>('a' + k));
        arguments.expression =
            fmt::format("{}({}, direction=\"{}\"{}).{}", name, operands, direction, more, part);
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
      layer("nn.peephole_lstm", 4, 2, {"", ", gates=\"ocfi\""}, 3),
      layer(
          "nn.gru", 3, 1,
          {"", ", linear_before_reset=True", ", gates=\"rzh\", linear_before_reset=True", ", gates=\"hrz\""}),
  };
}

}  // namespace quern::numeric
