// What quantisation does to numbers, in numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

/// The range moved so that 0 is one of its steps (tensorflow/core/kernels/fake_quant_ops_functor.h, `Nudge`).
struct Range {
  float low, high, step;
};

Range nudged(float low, float high, float first, float last) {
  const float step = (high - low) / (last - first), from_low = first - low / step;
  const float zero = std::clamp(std::round(from_low), first, last);
  return {(first - zero) * step, (last - zero) * step, step};
}

void fake_quantise(Call& call, double low, double high) {
  const int64_t bits = call.integer("num_bits", 8);
  if (bits < 2 || bits > 16) throw Refusal(fmt::format("has {} bits; 2 to 16 are known", bits));
  if (!(low < high)) throw Refusal("its range is empty");
  const Range range =
      nudged(static_cast<float>(low), static_cast<float>(high), call.flag("narrow_range", false) ? 1 : 0,
             static_cast<float>((int64_t{1} << bits) - 1));
  const auto number = [](float value) { return float_attribute(static_cast<double>(value)); };
  call.result(fmt::format("floor((clip($0, {0}, {1}) - {2}) / {3} + 0.5) * {3} + {2}", number(range.low),
                          number(range.high), literal(static_cast<double>(range.low), DType::float32()),
                          literal(static_cast<double>(range.step), DType::float32())),
              {call.in(0)});
}

void by_inputs(Call& call) {
  const auto low = call.number_in(1), high = call.number_in(2);
  if (!low || !high)
    throw Refusal(fmt::format("its range has to be known: give it with `--constant {}=NUMBER`",
                              call.node().inputs[low ? 2 : 1]));
  fake_quantise(call, *low, *high);
}

void by_attributes(Call& call) { fake_quantise(call, call.number("min", -6), call.number("max", 6)); }

}  // namespace

std::span<const Operator> quantised_operators() {
  static const Operator kRows[] = {
      {"FakeQuantWithMinMaxArgs", "", by_attributes},
      {"FakeQuantWithMinMaxVars", "", by_inputs},
  };
  return kRows;
}

}  // namespace quern::tensorflow
