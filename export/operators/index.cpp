// Reads and writes at positions that are data.

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// Positions that the operator's mode brings inside, as int64.
Name positions(OperatorCall& call, const std::string& mode, Dim extent) {
  Name given = call.cast(call.in(1), call.type(1)->dtype, DType::int64());
  if (mode == "fast") return given;
  const Name count = call.extents().value(extent, call.graph());
  if (mode == "wrap") return call.node("Mod", {given, count});
  const Name last = call.node("Sub", {count, call.graph().integer(1)});
  return call.node("Min", {call.node("Max", {given, call.graph().integer(0)}), last});
}

Converted take(const Row&, OperatorCall& call) {
  if (call.integer("b") != 0) return std::nullopt;
  const std::string mode = call.text("mode");
  if (mode != "fast" && mode != "wrap" && mode != "clip") return std::nullopt;
  Name data = call.in(0);
  if (call.is_none("axis") && call.rank(0) != 1) data = call.node("Reshape", {data, call.graph().ints({-1})});
  const auto ax = call.integer("ax");
  const Dim extent =
      call.is_none("axis") ? dim_product(call.type(0)->dims) : call.type(0)->dims[static_cast<size_t>(ax)];
  return one(call.node("Gather", {data, positions(call, mode, extent)}, {{"axis", ax}}));
}

Converted gather(const Row&, OperatorCall& call) {
  const Name at = call.cast(call.in(1), call.type(1)->dtype, DType::int64());
  return one(call.node("GatherElements", {call.in(0), at}, {{"axis", call.integer("ax")}}));
}

Converted scatter_elements(const Row&, OperatorCall& call) {
  const std::string reduction = call.text("reduction");
  if (reduction != "update" && reduction != "add" && reduction != "mul") return std::nullopt;
  const Name at = call.cast(call.in(1), call.type(1)->dtype, DType::int64());
  return one(
      call.node("ScatterElements", {call.in(0), at, call.in(2)},
                {{"axis", call.integer("axis")}, {"reduction", reduction == "update" ? "none" : reduction}}));
}

/// The coordinates of a place are along the first axis here, and along the last one in ONNX.
std::vector<int64_t> last_axis_first(size_t rank) {
  std::vector<int64_t> axes;
  for (size_t k = 1; k < rank; ++k) axes.push_back(static_cast<int64_t>(k));
  axes.push_back(0);
  return axes;
}

Converted gather_nd(const Row&, OperatorCall& call) {
  if (call.integer("batch_dims") != 0) return std::nullopt;
  const Name at = call.cast(call.in(1), call.type(1)->dtype, DType::int64());
  return one(call.node("GatherND", {call.in(0), call.transposed(at, last_axis_first(call.rank(1)))}));
}

Converted scatter_nd(const Row&, OperatorCall& call) {
  const std::string mode = call.text("mode");
  if (mode != "update" && mode != "add" && mode != "mul") return std::nullopt;
  const Name at = call.cast(call.in(1), call.type(1)->dtype, DType::int64());
  return one(call.node("ScatterND",
                       {call.in(0), call.transposed(at, last_axis_first(call.rank(1))), call.in(2)},
                       {{"reduction", mode == "update" ? "none" : mode}}));
}

}  // namespace

std::span<const Row> index_rows() {
  static constexpr Row kRows[] = {
      {"gather", gather},         {"gather_nd", gather_nd}, {"scatter_elements", scatter_elements},
      {"scatter_nd", scatter_nd}, {"take", take},
  };
  return kRows;
}

}  // namespace quern::onnx
