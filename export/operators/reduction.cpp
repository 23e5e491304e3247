// Reductions along axes, positions, orders.

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// All axes where it has no list of them; the static `ax` of the definitions is the list in every form.
Converted reduce(const Row& row, OperatorCall& call) {
  const DType dtype = call.type(0)->dtype;
  if (dtype.is_bool() || (dtype.is_int() && row.onnx == "ReduceMean")) return std::nullopt;
  const auto axes = call.integers("ax");
  const auto keeps = static_cast<int64_t>(call.flag("keepdims"));
  if (row.onnx == "ReduceSum")
    return one(call.node("ReduceSum", {call.in(0), call.graph().ints(axes)},
                         {{"keepdims", keeps}, {"noop_with_empty_axes", int64_t{1}}}));
  if (axes.empty()) return one(call.in(0));
  return one(call.node(row.onnx, {call.in(0)}, {{"axes", axes}, {"keepdims", keeps}}));
}

Converted position(const Row& row, OperatorCall& call) {
  const auto axes = call.integers("ax");
  const DType dtype = call.type(0)->dtype;
  if (axes.size() != 1 || dtype.is_bool()) return std::nullopt;
  const Name found = call.node(row.onnx, {call.in(0)},
                               {{"axis", axes[0]},
                                {"keepdims", static_cast<int64_t>(call.flag("keepdims"))},
                                {"select_last_index", static_cast<int64_t>(call.flag("select_last_index"))}});
  return one(call.cast(found, DType::int64(), call.result()->dtype));
}

Converted topk(const Row&, OperatorCall& call) {
  const std::string kind = call.text("ret_type");
  const Name count = call.graph().ints({call.integer("k")});
  const auto found = call.graph().nodes("TopK", {call.in(0), count},
                                        {{"axis", call.integer("axis")},
                                         {"largest", static_cast<int64_t>(!call.flag("is_ascend"))},
                                         {"sorted", int64_t{1}}},
                                        2);
  const Type result = call.result();
  const DType wanted = kind == "both" ? result->args[1]->dtype : result->dtype;
  if (kind == "values") return one(found[0]);
  GraphValue positions = one(call.cast(found[1], DType::int64(), wanted));
  return kind == "indices" ? positions : GraphValue{"", {one(found[0]), std::move(positions)}};
}

Converted cumsum(const Row&, OperatorCall& call) {
  if (call.is_none("axis") || call.type(0)->dtype != call.result()->dtype) return std::nullopt;
  return one(call.node("CumSum", {call.in(0), call.graph().integer(call.integer("axis"))},
                       {{"exclusive", static_cast<int64_t>(call.flag("exclusive"))}}));
}

}  // namespace

std::span<const Row> reduction_rows() {
  static constexpr Row kRows[] = {
      {"argmax", position, "ArgMax"}, {"argmin", position, "ArgMin"}, {"cumsum", cumsum},
      {"max", reduce, "ReduceMax"},   {"mean", reduce, "ReduceMean"}, {"min", reduce, "ReduceMin"},
      {"prod", reduce, "ReduceProd"}, {"sum", reduce, "ReduceSum"},   {"topk", topk},
  };
  return kRows;
}

}  // namespace quern::onnx
