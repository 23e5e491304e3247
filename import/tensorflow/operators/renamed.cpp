// Operators that ONNX has too.

#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using onnx::AttributeValue;
using onnx::Node;

AttributeValue attribute(const Node& node, std::string_view name, const AttributeValue& otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second;
}

/// Over the axes of the second input; over none where there are none.
void reduction(Node& node) {
  node.attributes["keepdims"] = attribute(node, "keep_dims", int64_t{0});
  node.attributes["noop_with_empty_axes"] = int64_t{1};
}

void squeeze(Node& node) {
  const AttributeValue axes = attribute(node, "squeeze_dims", std::vector<int64_t>());
  if (const auto* list = std::get_if<std::vector<int64_t>>(&axes); list && !list->empty())
    node.attributes["axes"] = *list;
}

void leaky_relu(Node& node) { node.attributes["alpha"] = attribute(node, "alpha", 0.2); }

void scatter_sum(Node& node) { node.attributes["reduction"] = std::string("add"); }

}  // namespace

std::span<const Renamed> renamed_operators() {
  static const Renamed kRows[] = {
      {"Abs", "Abs"},
      {"Acos", "Acos"},
      {"Acosh", "Acosh"},
      {"Add", "Add"},
      {"AddN", "Sum"},
      {"AddV2", "Add"},
      {"All", "ReduceMin", reduction},
      {"Any", "ReduceMax", reduction},
      {"Asin", "Asin"},
      {"Asinh", "Asinh"},
      {"Atan", "Atan"},
      {"Atanh", "Atanh"},
      {"Ceil", "Ceil"},
      {"CheckNumerics", "Identity"},
      {"Cos", "Cos"},
      {"Cosh", "Cosh"},
      {"Cumsum", "CumSum"},
      {"Div", "Div"},
      {"Einsum", "Einsum"},
      {"Elu", "Elu"},
      {"EnsureShape", "Identity"},
      {"Equal", "Equal"},
      {"Erf", "Erf"},
      {"Exp", "Exp"},
      {"ExpandDims", "Unsqueeze"},
      {"Floor", "Floor"},
      {"GatherNd", "GatherND"},
      {"Greater", "Greater"},
      {"GreaterEqual", "GreaterOrEqual"},
      {"Identity", "Identity"},
      {"Inv", "Reciprocal"},
      {"IsInf", "IsInf"},
      {"IsNan", "IsNaN"},
      {"LeakyRelu", "LeakyRelu", leaky_relu},
      {"Less", "Less"},
      {"LessEqual", "LessOrEqual"},
      {"Log", "Log"},
      {"LogSoftmax", "LogSoftmax"},
      {"LogicalAnd", "And"},
      {"LogicalNot", "Not"},
      {"LogicalOr", "Or"},
      {"Max", "ReduceMax", reduction},
      {"Maximum", "Max"},
      {"Mean", "ReduceMean", reduction},
      {"Min", "ReduceMin", reduction},
      {"Minimum", "Min"},
      {"Mul", "Mul"},
      {"Neg", "Neg"},
      {"PlaceholderWithDefault", "Identity"},
      {"Pow", "Pow"},
      {"PreventGradient", "Identity"},
      {"Prod", "ReduceProd", reduction},
      {"Range", "Range"},
      {"RealDiv", "Div"},
      {"Reciprocal", "Reciprocal"},
      {"Relu", "Relu"},
      {"Rint", "Round"},
      {"Round", "Round"},
      {"SelectV2", "Where"},
      {"Selu", "Selu"},
      {"Sigmoid", "Sigmoid"},
      {"Sign", "Sign"},
      {"Sin", "Sin"},
      {"Sinh", "Sinh"},
      {"Snapshot", "Identity"},
      {"Softmax", "Softmax"},
      {"Softplus", "Softplus"},
      {"Softsign", "Softsign"},
      {"Sqrt", "Sqrt"},
      {"Squeeze", "Squeeze", squeeze},
      {"StopGradient", "Identity"},
      {"Sub", "Sub"},
      {"Sum", "ReduceSum", reduction},
      {"Tan", "Tan"},
      {"Tanh", "Tanh"},
      {"TensorScatterAdd", "ScatterND", scatter_sum},
      {"TensorScatterUpdate", "ScatterND"},
      {"Tile", "Tile"},
  };
  return kRows;
}

}  // namespace quern::tensorflow
