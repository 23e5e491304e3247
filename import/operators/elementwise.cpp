// Operators of single elements.

#include <fmt/format.h>

#include "import/onnx/dtypes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// Of two tensors. Before operator set 7 the second one was aligned with an axis of the first.
template <const char* kExpression>
void binary(Call& call) {
  const Term& a = call.in(0);
  Term b = call.in(1);
  if (call.opset() < 7 && call.has_attribute("axis") && b.rank() > 0) {
    const auto behind = static_cast<int64_t>(a.rank() - b.rank()) - call.axis("axis", 0, a.rank());
    if (behind > 0)
      b = call.step("aligned", fmt::format("expand_dims($0, axis={}, num_newaxis={})", b.rank(), behind),
                    {b});
  }
  call.result(kExpression, {a, b});
}
constexpr char kAdd[] = "$0 + $1", kSub[] = "$0 - $1", kMul[] = "$0 * $1", kDiv[] = "$0 / $1",
               kAnd[] = "logical_and($0, $1)", kOr[] = "logical_or($0, $1)", kXor[] = "logical_xor($0, $1)",
               kLess[] = "$0 < $1", kGreater[] = "$0 > $1", kEqual[] = "$0 == $1";

/// `maximum(maximum(a, b), c)`, or with an infix operator.
void fold(Call& call, std::string_view expression) {
  Term result = call.in(0);
  for (size_t i = 1; i < call.input_count(); ++i) {
    const bool is_last = i + 1 == call.input_count();
    result = is_last ? call.let(expression, {result, call.in(i)})
                     : call.step("partial", expression, {result, call.in(i)});
  }
  call.set(0, result);
}

void mean(Call& call) {
  Term sum = call.in(0);
  for (size_t i = 1; i < call.input_count(); ++i) sum = call.step("total", "$0 + $1", {sum, call.in(i)});
  call.result(fmt::format("$0 / {}.0", call.input_count()), {sum});
}

void power(Call& call) {
  const Term& base = call.in(0);
  Term exponent = call.in(1);
  const DType dtype = base.dtype();
  if (dtype.is_int()) {
    call.result(
        fmt::format("cast(power(cast($0, dtype=\"float64\"), cast($1, dtype=\"float64\")), dtype=\"{}\")",
                    to_string(dtype)),
        {base, exponent});
  } else if (const auto number = number_of(exponent); number && exponent.rank() == 0) {
    call.result(fmt::format("power($0, {})", literal(*number, dtype)), {base});
  } else if (exponent.dtype() == dtype) {
    call.result("power($0, $1)", {base, exponent});
  } else {
    call.result(fmt::format("power($0, cast($1, dtype=\"{}\"))", to_string(dtype)), {base, exponent});
  }
}

void modulo(Call& call) {
  call.result(call.flag("fmod", false) ? "mod($0, $1)" : "floor_mod($0, $1)", {call.in(0), call.in(1)});
}

void bit_shift(Call& call) {
  const std::string direction = call.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") throw Refusal("its `direction` is neither LEFT nor RIGHT");
  call.result(direction == "LEFT" ? "left_shift($0, $1)" : "right_shift($0, $1)", {call.in(0), call.in(1)});
}

void cast(Call& call) {
  const int64_t code = call.integer("to");
  const auto dtype = dtype_of(static_cast<int32_t>(code));
  if (!dtype) throw Refusal(fmt::format("casts to the dtype {}, which has no counterpart", dtype_name(code)));
  if (call.in(0).dtype() == *dtype) return call.set(0, call.in(0));
  if (call.in(0).dims && dtype->is_int()) {
    Term same = dims_term(*call.in(0).dims, *dtype, call.rank(0));
    return call.set(0, same);
  }
  call.result(fmt::format("cast($0, dtype=\"{}\")", to_string(*dtype)), {call.in(0)});
}

void cast_like(Call& call) {
  if (call.in(0).dtype() == call.in(1).dtype()) return call.set(0, call.in(0));
  call.result(fmt::format("cast($0, dtype=\"{}\")", to_string(call.in(1).dtype())), {call.in(0)});
}

/// A bound of `Clip`: an attribute of old operator sets, an input of newer ones.
std::optional<Term> bound(Call& call, const char* name, size_t input) {
  if (call.has(input)) return call.in(input);
  if (!call.has_attribute(name)) return std::nullopt;
  TensorPtr number = HostTensor::make(DType::float32(), {});
  number->elements<float>()[0] = static_cast<float>(call.number(name, 0));
  return constant_term(number);
}

void clip(Call& call) {
  const Term& data = call.in(0);
  const auto low = bound(call, "min", 1), high = bound(call, "max", 2);
  const auto lowest = low ? number_of(*low) : std::nullopt, highest = high ? number_of(*high) : std::nullopt;
  if (low && high && lowest && highest && data.dtype().is_float())
    return call.result(fmt::format("clip($0, {}, {})", float_attribute(*lowest), float_attribute(*highest)),
                       {data});
  if (low && high) return call.result("minimum(maximum($0, $1), $2)", {data, *low, *high});
  if (low) return call.result("maximum($0, $1)", {data, *low});
  if (high) return call.result("minimum($0, $1)", {data, *high});
  call.set(0, data);
}

void is_infinite(Call& call) {
  const bool positive = call.flag("detect_positive", true), negative = call.flag("detect_negative", true);
  if (positive && negative) return call.result("isinf($0)", {call.in(0)});
  if (!positive && !negative) return call.result("logical_and(isinf($0), isnan($0))", {call.in(0)});
  call.result(
      fmt::format("logical_and(isinf($0), $0 {} {})", positive ? ">" : "<", literal(0, call.in(0).dtype())),
      {call.in(0)});
}

/// `round` of the language takes halves away from zero, ONNX to the even neighbour.
void round_to_even(Call& call) {
  const DType dtype = call.in(0).dtype();
  call.result(fmt::format("where(abs($0 - trunc($0)) == {}, {} * round($0 / {}), round($0))",
                          literal(0.5, dtype), literal(2, dtype), literal(2, dtype)),
              {call.in(0)});
}

// --- activations
void leaky_relu(Call& call) {
  call.result(fmt::format("nn.leaky_relu($0, alpha={})", float_attribute(call.number("alpha", 0.01))),
              {call.in(0)});
}

void elu(Call& call) {
  call.result(fmt::format("nn.elu($0, alpha={})", float_attribute(call.number("alpha", 1))), {call.in(0)});
}

void celu(Call& call) {
  const std::string alpha = literal(call.number("alpha", 1), call.in(0).dtype());
  call.result(
      fmt::format("nn.relu($0) + minimum({0} * expm1($0 / {0}), {1})", alpha, literal(0, call.in(0).dtype())),
      {call.in(0)});
}

void selu(Call& call) {
  const double alpha = call.number("alpha", 1.67326319217681884765625),
               gamma = call.number("gamma", 1.05070102214813232421875);
  if (!call.has_attribute("alpha") && !call.has_attribute("gamma"))
    return call.result("nn.selu($0)", {call.in(0)});
  call.result(
      fmt::format("nn.elu($0, alpha={}) * {}", float_attribute(alpha), literal(gamma, call.in(0).dtype())),
      {call.in(0)});
}

void hard_sigmoid(Call& call) {
  const DType dtype = call.in(0).dtype();
  call.result(fmt::format("clip($0 * {} + {}, 0.0, 1.0)", literal(call.number("alpha", 0.2), dtype),
                          literal(call.number("beta", 0.5), dtype)),
              {call.in(0)});
}

void thresholded_relu(Call& call) {
  const DType dtype = call.in(0).dtype();
  call.result(
      fmt::format("where($0 > {}, $0, {})", literal(call.number("alpha", 1), dtype), literal(0, dtype)),
      {call.in(0)});
}

void shrink(Call& call) {
  const DType dtype = call.in(0).dtype();
  const double lambda = call.number("lambd", 0.5), bias = call.number("bias", 0);
  call.result(
      fmt::format("where($0 < {}, $0 + {}, where($0 > {}, $0 - {}, {}))", literal(-lambda, dtype),
                  literal(bias, dtype), literal(lambda, dtype), literal(bias, dtype), literal(0, dtype)),
      {call.in(0)});
}

/// The slopes broadcast to the data; one for each channel is PyTorch's layer.
void prelu(Call& call) {
  const Term &data = call.in(0), &slope = call.in(1);
  bool is_per_channel = data.rank() >= 2 && slope.rank() + 1 == data.rank() && slope.rank() >= 1 &&
                        slope.extent(0) == data.extent(1);
  // Before operator set 7 slopes were those of channels.
  is_per_channel = is_per_channel || (call.opset() < 7 && slope.rank() == 1 && !is_const(slope.extent(0), 1));
  for (size_t i = 1; is_per_channel && i < slope.rank(); ++i) is_per_channel = is_const(slope.extent(i), 1);
  if (is_per_channel && slope.rank() == 1) return call.result("nn.prelu($0, $1)", {data, slope});
  if (is_per_channel) return call.result("nn.prelu($0, reshape($1, newshape=[-1]))", {data, slope});
  call.result(fmt::format("where($0 < {}, $0 * $1, $0)", literal(0, data.dtype())), {data, slope});
}

void gelu(Call& call) {
  const bool is_approximate = call.string("approximate", "none") == "tanh";
  call.result(is_approximate ? "nn.gelu($0, approximate=\"tanh\")" : "nn.gelu($0)", {call.in(0)});
}

/// A number that decides what is written, and so has to be known; `otherwise` where it is left out.
double decisive(Call& call, size_t input, double otherwise) {
  if (!call.has(input)) return otherwise;
  const auto number = call.number_in(input);
  if (!number)
    throw Refusal(fmt::format("`{0}` has to be known: give it with `--constant {0}=NUMBER`",
                              call.node().inputs[input]));
  return *number;
}

/// In inference nothing is dropped.
void dropout(Call& call) {
  const bool trains = call.opset() >= 12 && decisive(call, 2, 0) != 0;
  if (trains && decisive(call, 1, 0.5) != 0)
    throw Refusal("drops elements, which only training does; export the model for inference");
  call.set(0, call.in(0));
  if (call.wants(1)) call.set(1, call.step("mask", "cast(ones_like($0), dtype=\"bool\")", {call.in(0)}));
}

void identity(Call& call) { call.set(0, call.in(0)); }

}  // namespace

std::span<const Operator> elementwise_operators() {
  static const Operator kRows[] = {
      {"Abs", "abs($0)"},
      {"Acos", "acos($0)"},
      {"Acosh", "acosh($0)"},
      {"Add", "", binary<kAdd>},
      {"And", "", binary<kAnd>},
      {"Asin", "asin($0)"},
      {"Asinh", "asinh($0)"},
      {"Atan", "atan($0)"},
      {"Atanh", "atanh($0)"},
      {"BitShift", "", bit_shift},
      {"BitwiseAnd", "bitwise_and($0, $1)"},
      {"BitwiseNot", "bitwise_not($0)"},
      {"BitwiseOr", "bitwise_or($0, $1)"},
      {"BitwiseXor", "bitwise_xor($0, $1)"},
      {"Cast", "", cast},
      {"CastLike", "", cast_like},
      {"Ceil", "ceil($0)"},
      {"Celu", "", celu},
      {"Clip", "", clip},
      {"Cos", "cos($0)"},
      {"Cosh", "cosh($0)"},
      {"Div", "", binary<kDiv>},
      {"Dropout", "", dropout},
      {"Elu", "", elu},
      {"Equal", "", binary<kEqual>},
      {"Erf", "erf($0)"},
      {"Exp", "exp($0)"},
      {"Floor", "floor($0)"},
      {"Gelu", "", gelu},
      {"Greater", "", binary<kGreater>},
      {"GreaterOrEqual", "$0 >= $1"},
      {"HardSigmoid", "", hard_sigmoid},
      {"HardSwish", "nn.hardswish($0)"},
      {"Identity", "", identity},
      {"IsInf", "", is_infinite},
      {"IsNaN", "isnan($0)"},
      {"LeakyRelu", "", leaky_relu},
      {"Less", "", binary<kLess>},
      {"LessOrEqual", "$0 <= $1"},
      {"Log", "log($0)"},
      {"Max", "", [](Call& call) { fold(call, "maximum($0, $1)"); }},
      {"Mean", "", mean},
      {"Min", "", [](Call& call) { fold(call, "minimum($0, $1)"); }},
      {"Mish", "nn.mish($0)"},
      {"Mod", "", modulo},
      {"Mul", "", binary<kMul>},
      {"Neg", "negative($0)"},
      {"Not", "logical_not($0)"},
      {"Or", "", binary<kOr>},
      {"Pow", "", power},
      {"PRelu", "", prelu},
      {"Reciprocal", "reciprocal($0)"},
      {"Relu", "nn.relu($0)"},
      {"Round", "", round_to_even},
      {"Selu", "", selu},
      {"Shrink", "", shrink},
      {"Sigmoid", "sigmoid($0)"},
      {"Sign", "sign($0)"},
      {"Silu", "nn.silu($0)"},  // of `with_layers`
      {"Sin", "sin($0)"},
      {"Sinh", "sinh($0)"},
      {"Softplus", "nn.softplus($0)"},
      {"Softsign", "nn.softsign($0)"},
      {"Sqrt", "sqrt($0)"},
      {"Sub", "", binary<kSub>},
      {"Sum", "", [](Call& call) { fold(call, "$0 + $1"); }},
      {"Tan", "tan($0)"},
      {"Tanh", "tanh($0)"},
      {"ThresholdedRelu", "", thresholded_relu},
      {"Where", "where($0, $1, $2)"},
      {"Xor", "", binary<kXor>},
  };
  return kRows;
}

}  // namespace quern::onnx
