// Functions of single elements. Those that are one function of the language's scalars need no row.

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// A node with the same operands, which broadcast in the same way.
Converted plain(const Row& row, OperatorCall& call) {
  std::vector<Name> inputs;
  for (size_t i = 0; i < call.count(); ++i) inputs.push_back(call.in(i));
  return one(call.node(row.onnx, std::move(inputs)));
}

/// The sum of a product and a vector along its columns is one `Gemm`.
Converted add(const Row& row, OperatorCall& call) {
  for (size_t i = 0; i < 2; ++i) {
    const bool is_bias =
        call.rank(i) == 1 && call.rank(1 - i) == 2 && call.type(i)->dims[0] == call.result()->dims[1];
    if (!is_bias) continue;
    if (const auto sum = call.with_bias(call.in(1 - i), call.in(i), {"Gemm"})) return one(*sum);
  }
  return plain(row, call);
}

Converted bias_add(const Row&, OperatorCall& call) {
  const int64_t axis = call.integer("axis");
  if (axis != 1) return std::nullopt;
  if (const auto sum = call.with_bias(call.in(0), call.in(1), {"Conv", "ConvTranspose", "Gemm"}))
    return one(*sum);
  return std::nullopt;
}

Converted remainder(const Row&, OperatorCall& call) {
  if (call.type(0)->dtype.is_float()) return std::nullopt;
  return one(call.node("Mod", {call.in(0), call.in(1)}));
}

Converted cast(const Row&, OperatorCall& call) {
  return one(call.cast(call.in(0), call.type(0)->dtype, call.result()->dtype));
}

Converted clip(const Row&, OperatorCall& call) {
  const DType dtype = call.type(0)->dtype;
  if (dtype.is_bool()) return std::nullopt;
  const Name low = call.graph().number(call.real("a_min"), dtype),
             high = call.graph().number(call.real("a_max"), dtype);
  return one(call.node("Clip", {call.in(0), low, high}));
}

Converted with_alpha(const Row& row, OperatorCall& call) {
  return one(call.node(row.onnx, {call.in(0)}, {{"alpha", call.real("alpha")}}));
}

/// The slope of each channel, over the axes behind that of the channels.
Converted prelu(const Row&, OperatorCall& call) {
  const auto axis =
      static_cast<size_t>(call.integer("axis") < 0 ? call.integer("axis") + static_cast<int64_t>(call.rank(0))
                                                   : call.integer("axis"));
  std::vector<int64_t> behind;
  for (size_t k = axis + 1; k < call.rank(0); ++k) behind.push_back(static_cast<int64_t>(k - axis));
  Name slope = call.in(1);
  if (!behind.empty()) slope = call.node("Unsqueeze", {slope, call.graph().ints(behind)});
  return one(call.node("PRelu", {call.in(0), slope}));
}

Converted same(const Row&, OperatorCall& call) { return one(call.in(0)); }

}  // namespace

std::span<const Row> elementwise_rows() {
  static constexpr Row kRows[] = {
      {"abs", plain, "Abs"},
      {"acos", plain, "Acos"},
      {"acosh", plain, "Acosh"},
      {"add", add, "Add"},
      {"asin", plain, "Asin"},
      {"asinh", plain, "Asinh"},
      {"atan", plain, "Atan"},
      {"atanh", plain, "Atanh"},
      {"cast", cast},
      {"clip", clip},
      {"cosh", plain, "Cosh"},
      {"divide", plain, "Div"},
      {"equal", plain, "Equal"},
      {"floor_mod", remainder},
      {"greater", plain, "Greater"},
      {"greater_equal", plain, "GreaterOrEqual"},
      {"less", plain, "Less"},
      {"less_equal", plain, "LessOrEqual"},
      {"logical_and", plain, "And"},
      {"logical_not", plain, "Not"},
      {"logical_or", plain, "Or"},
      {"logical_xor", plain, "Xor"},
      {"maximum", plain, "Max"},
      {"minimum", plain, "Min"},
      {"multiply", plain, "Mul"},
      {"negative", plain, "Neg"},
      {"nn.bias_add", bias_add},
      {"nn.dropout", same},
      {"nn.leaky_relu", with_alpha, "LeakyRelu"},
      {"nn.prelu", prelu},
      {"nn.relu", plain, "Relu"},
      {"nn.softplus", plain, "Softplus"},
      {"nn.softsign", plain, "Softsign"},
      {"power", plain, "Pow"},
      {"sinh", plain, "Sinh"},
      {"subtract", plain, "Sub"},
      {"tan", plain, "Tan"},
      {"where", plain, "Where"},
  };
  return kRows;
}

}  // namespace quern::onnx
