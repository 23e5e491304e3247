// Tensors put together, taken apart and padded. Views, transposes, slices and broadcasts need no row: their definitions are
// those nodes.

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

Converted concatenate(const Row&, OperatorCall& call) {
  return one(call.node("Concat", call.parts(0), {{"axis", call.integer("ax")}}));
}

/// The same elements; only `reshape` itself is written with an extent to find out.
Converted reshape(const Row&, OperatorCall& call) {
  return one(call.reshaped(call.in(0), call.result()->dims));
}

Converted squeeze(const Row&, OperatorCall& call) {
  const auto axes = call.integers("ax");
  return one(axes.empty() ? call.in(0) : call.node("Squeeze", {call.in(0), call.graph().ints(axes)}));
}

Converted expand_dims(const Row&, OperatorCall& call) {
  std::vector<int64_t> axes;
  for (int64_t k = 0; k < call.integer("num_newaxis"); ++k) axes.push_back(call.integer("at") + k);
  return one(axes.empty() ? call.in(0) : call.node("Unsqueeze", {call.in(0), call.graph().ints(axes)}));
}

Converted split(const Row&, OperatorCall& call) {
  const auto ax = call.integer("ax");
  std::vector<Dim> lengths;
  for (Type part : call.result()->args) lengths.push_back(part->dims[static_cast<size_t>(ax)]);
  const auto parts = call.graph().nodes("Split", {call.in(0), call.extents().shape(lengths, call.graph())},
                                        {{"axis", ax}}, lengths.size());
  GraphValue value;
  for (const Name& part : parts) value.fields.push_back(one(part));
  return value;
}

Converted pad(const Row&, OperatorCall& call) {
  const std::string mode = call.text("pad_mode");
  if (mode != "constant" && mode != "edge" && mode != "reflect") return std::nullopt;
  const StaticValue widths = call.value("pad_width");
  std::vector<int64_t> before, after;
  for (const StaticValue& width : *widths.as_list()) {
    const StaticList* pair = width.as_list();
    if (!pair || pair->size() != 2 || !(*pair)[0].as_int() || !(*pair)[1].as_int()) return std::nullopt;
    before.push_back(*(*pair)[0].as_int());
    after.push_back(*(*pair)[1].as_int());
  }
  before.insert(before.end(), after.begin(), after.end());
  return one(call.node("Pad", {call.in(0), call.graph().ints(before), call.in(1)}, {{"mode", mode}}));
}

Converted tile(const Row&, OperatorCall& call) {
  const auto times = call.integers("times");
  if (times.size() != call.rank(0)) return std::nullopt;
  return one(call.node("Tile", {call.in(0), call.graph().ints(times)}));
}

Converted shape_of(const Row&, OperatorCall& call) {
  return one(call.cast(call.node("Shape", {call.in(0)}), DType::int64(), call.result()->dtype));
}

Converted space_and_depth(const Row& row, OperatorCall& call) {
  const std::string mode = call.text("mode");
  if (call.text("layout") != "NCHW" || (row.onnx == "SpaceToDepth" && mode != "DCR")) return std::nullopt;
  Attributes attributes{{"blocksize", call.integer("block_size")}};
  if (row.onnx == "DepthToSpace") attributes.emplace_back("mode", mode);
  return one(call.node(row.onnx, {call.in(0)}, attributes));
}

}  // namespace

std::span<const Row> shape_rows() {
  static constexpr Row kRows[] = {
      {"concatenate", concatenate},
      {"expand_dims", expand_dims},
      {"nn.depth_to_space", space_and_depth, "DepthToSpace"},
      {"nn.pad", pad},
      {"nn.space_to_depth", space_and_depth, "SpaceToDepth"},
      {"reshape", reshape},
      {"shape_of", shape_of},
      {"split", split},
      {"squeeze", squeeze},
      {"tile", tile},
  };
  return kRows;
}

}  // namespace quern::onnx
