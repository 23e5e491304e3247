// `if` and `scan_over`: nodes with graphs in them.

#include <fmt/format.h>

#include <limits>

#include "export/lower/element_ops.h"
#include "export/lower/lowering.h"
#include "import/text/refusal.h"
#include "ir/type/row_types.h"

namespace quern::onnx {

using import_text::Refusal;

GraphPtr Lowering::inner(ExprPtr expr, std::vector<Port> inputs, std::string_view name) {
  writers_.emplace_back(graph().names());
  const GraphValue value = lower(expr);
  GraphWriter& writer = graph();
  // The results of an inner graph are made in it, each once.
  for_each_tensor(value, [&](const Name& result) {
    writer.graph().outputs.push_back({writer.nodes("Identity", {result}, {}, 1, "result")[0], {}, {}, {}});
  });
  auto made = std::make_shared<Graph>(std::move(writer.graph()));
  writers_.pop_back();
  made->name = name;
  made->inputs = std::move(inputs);
  return made;
}

namespace {

/// The shape of a value's structure with other tensors, in order.
GraphValue with_tensors(Type type, const std::vector<Name>& names, size_t& next) {
  GraphValue value;
  if (type->kind == TypeKind::Tuple)
    for (Type field : type->args) value.fields.push_back(with_tensors(field, names, next));
  else
    value.tensor = names.at(next++);
  return value;
}

size_t count_tensors(Type type) {
  if (type->kind != TypeKind::Tuple) return 1;
  size_t count = 0;
  for (Type field : type->args) count += count_tensors(field);
  return count;
}

}  // namespace

GraphValue Lowering::conditional(const IfExpr& choice) {
  const Name condition = tensor(choice.condition);
  const size_t count = count_tensors(choice.type);
  GraphPtr then_arm = inner(choice.then_arm, {}, "then"), else_arm = inner(choice.else_arm, {}, "else");
  const auto names =
      graph().nodes("If", {condition}, {{"then_branch", then_arm}, {"else_branch", else_arm}}, count);
  size_t next = 0;
  return with_tensors(choice.type, names, next);
}

namespace {

Name reversed(GraphWriter& graph, const Name& rows) {
  constexpr int64_t kBeforeAll = std::numeric_limits<int64_t>::min() + 1;
  return graph.node("Slice",
                    {rows, graph.ints({-1}), graph.ints({kBeforeAll}), graph.ints({0}), graph.ints({-1})});
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
  Port port{value.tensor, type->dtype, std::vector<Extent>(), ""};
  for (Dim dim : type->dims) {
    const auto known = as_const(dim);
    port.shape->push_back(known ? Extent(*known) : Extent(std::string(dim->name)));
  }
  inputs.push_back(std::move(port));
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
  const GraphPtr body = inner(step->body, std::move(inputs), "step");
  const auto results =
      graph().nodes("Scan", operands,
                    {{"body", body}, {"num_scan_inputs", static_cast<int64_t>(operands.size() - carried)}},
                    body->outputs.size());
  std::vector<Name> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(is_reversed && i >= carried ? reversed(graph(), results[i]) : results[i]);
  size_t next = 0;
  return with_tensors(scan.type, names, next);
}

}  // namespace quern::onnx
