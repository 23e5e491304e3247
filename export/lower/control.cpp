// `if` and `scan_over`: nodes with graphs in them.

#include <fmt/format.h>

#include "export/lower/element_ops.h"
#include "export/lower/lowering.h"
#include "import/text/refusal.h"
#include "ir/type/row_types.h"

namespace quern::onnx {

using import_text::Refusal;

Lowering::Inner Lowering::inner(ExprPtr expr, std::vector<Port> inputs, std::string_view name) {
  writers_.emplace_back(graph().names());
  GraphValue value = lower(expr);
  GraphWriter& writer = graph();
  // The results of an inner graph are made in it, each once.
  for_each_tensor(value, [&](const Name& result) {
    writer.graph().outputs.push_back({writer.nodes("Identity", {result}, {}, 1, "result")[0], {}, {}, {}});
  });
  auto made = std::make_shared<Graph>(std::move(writer.graph()));
  writers_.pop_back();
  made->name = name;
  made->inputs = std::move(inputs);
  return {std::move(made), std::move(value)};
}

namespace {

/// A value of the same structure with other tensors, from `next` on.
GraphValue with_tensors(const GraphValue& like, const std::vector<Name>& names, size_t& next) {
  if (like.function) throw Refusal("ONNX has no functions as values");
  GraphValue value;
  if (!like.tensor.empty()) value.tensor = names.at(next++);
  for (const GraphValue& field : like.fields) value.fields.push_back(with_tensors(field, names, next));
  return value;
}

}  // namespace

GraphValue Lowering::conditional(const IfExpr& choice) {
  const Name condition = tensor(choice.condition);
  const Inner first = inner(choice.then_arm, {}, "then"), second = inner(choice.else_arm, {}, "else");
  const size_t count = first.graph->outputs.size();
  if (second.graph->outputs.size() != count) throw Refusal("the arms of an `if` have different structures");
  const auto names =
      graph().nodes("If", {condition}, {{"then_branch", first.graph}, {"else_branch", second.graph}}, count);
  size_t next = 0;
  return with_tensors(first.value, names, next);
}

namespace {

Name reversed(GraphWriter& graph, const Name& rows) {
  return graph.node("Slice",
                    {rows, graph.ints({-1}), graph.ints({kBeforeFirst}), graph.ints({0}), graph.ints({-1})});
}

}  // namespace

/// Names for the tensors of a parameter of an inner graph.
GraphValue Lowering::inner_input(Type type, std::string_view hint, std::vector<Port>& inputs) {
  GraphValue value;
  if (type->kind == TypeKind::Tuple) {
    for (Type field : type->args) value.fields.push_back(inner_input(field, hint, inputs));
    return value;
  }
  if (!type->is_tensor()) throw Refusal(fmt::format("ONNX carries no `{}` through a scan", to_string(type)));
  value.tensor = graph().names().fresh(hint);
  inputs.push_back(port_of(value.tensor, type));
  return value;
}

GraphValue Lowering::scan(const IntrinsicExpr& scan) {
  const auto* step = as<FnExpr>(scan.args[0]);
  if (!step || step->params.size() != 2) throw Refusal("a function that `scan_over` calls has to be known");
  const bool is_reversed = !scan.texts.empty() && scan.texts[0] == "reverse";
  std::vector<Name> operands;
  for_each_tensor(lower(scan.args[1]), [&](const Name& name) { operands.push_back(name); });
  const size_t carried = operands.size();
  for_each_tensor(lower(scan.args[2]), [&](const Name& rows) {
    operands.push_back(is_reversed ? reversed(graph(), rows) : rows);
  });
  std::vector<Port> inputs;
  for (const Variable* parameter : step->params)
    bind(parameter, inner_input(parameter->type, parameter->name, inputs));
  const Inner body = inner(step->body, std::move(inputs), "step");
  const auto results = graph().nodes(
      "Scan", operands,
      {{"body", body.graph}, {"num_scan_inputs", static_cast<int64_t>(operands.size() - carried)}},
      body.graph->outputs.size());
  std::vector<Name> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(is_reversed && i >= carried ? reversed(graph(), results[i]) : results[i]);
  size_t next = 0;
  return with_tensors(body.value, names, next);
}

}  // namespace quern::onnx
