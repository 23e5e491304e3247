// Pools.

#include <algorithm>

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// "NCHW", or "" for a layout whose axes are split. The data of other layouts are transposed.
std::string layout_of(const OperatorCall& call) {
  const std::string layout = call.text("layout"), space = std::string("DHW").substr(5 - call.rank(0));
  if (layout == "NC" + space || layout == "N" + space + "C") return "NC" + space;
  return "";
}

Converted pool(const Row& row, OperatorCall& call) {
  const std::string wanted = layout_of(call), layout = call.text("layout");
  if (wanted.empty() || !call.result()->dtype.is_float()) return std::nullopt;
  Attributes attributes{{"kernel_shape", call.integers("k")},
                        {"strides", call.integers("st")},
                        {"pads", call.integers("pad")},
                        {"ceil_mode", static_cast<int64_t>(call.flag("ceil_mode"))}};
  const auto dilations = call.integers("di");
  const bool is_dilated = std::ranges::any_of(dilations, [](int64_t d) { return d != 1; });
  if (row.onnx == "AveragePool") {
    // ONNX counts what `ceil_mode` adds in another way, and has dilations of a mean from operator set 19 on.
    if (is_dilated || call.flag("ceil_mode")) return std::nullopt;
    attributes.emplace_back("count_include_pad", static_cast<int64_t>(call.flag("count_include_pad")));
  } else {
    attributes.emplace_back("dilations", dilations);
  }
  const Name input = call.to_layout(call.in(0), layout, wanted);
  return one(call.to_layout(call.node(row.onnx, {input}, attributes), wanted, layout));
}

Converted global_pool(const Row& row, OperatorCall& call) {
  const std::string wanted = layout_of(call), layout = call.text("layout");
  if (wanted.empty() || !call.result()->dtype.is_float()) return std::nullopt;
  const Name input = call.to_layout(call.in(0), layout, wanted);
  return one(call.to_layout(call.node(row.onnx, {input}), wanted, layout));
}

/// To one place of each channel.
Converted adaptive_pool(const Row& row, OperatorCall& call) {
  const auto& dims = call.result()->dims;
  for (size_t axis = 2; axis < dims.size(); ++axis)
    if (!is_const(dims[axis], 1)) return std::nullopt;
  return global_pool(row, call);
}

}  // namespace

std::span<const Row> pool_rows() {
  static constexpr Row kRows[] = {
      {"nn.adaptive_avg_pool1d", adaptive_pool, "GlobalAveragePool"},
      {"nn.adaptive_avg_pool2d", adaptive_pool, "GlobalAveragePool"},
      {"nn.adaptive_avg_pool3d", adaptive_pool, "GlobalAveragePool"},
      {"nn.adaptive_max_pool1d", adaptive_pool, "GlobalMaxPool"},
      {"nn.adaptive_max_pool2d", adaptive_pool, "GlobalMaxPool"},
      {"nn.adaptive_max_pool3d", adaptive_pool, "GlobalMaxPool"},
      {"nn.avg_pool1d", pool, "AveragePool"},
      {"nn.avg_pool2d", pool, "AveragePool"},
      {"nn.avg_pool3d", pool, "AveragePool"},
      {"nn.global_avg_pool2d", global_pool, "GlobalAveragePool"},
      {"nn.global_max_pool2d", global_pool, "GlobalMaxPool"},
      {"nn.max_pool1d", pool, "MaxPool"},
      {"nn.max_pool2d", pool, "MaxPool"},
      {"nn.max_pool3d", pool, "MaxPool"},
  };
  return kRows;
}

}  // namespace quern::onnx
