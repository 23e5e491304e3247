// Convolutions, normalisations, softmax.

#include <algorithm>

#include "export/operators/table.h"

namespace quern::onnx {

namespace {

using Converted = std::optional<GraphValue>;

/// "NCHW" for any order of the same letters; "" for a layout with split axes.
std::string plain_layout(const std::string& layout, std::string_view plain) {
  std::string a = layout, b(plain);
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b ? std::string(plain) : "";
}

struct Layouts {
  std::string data, weight;  ///< ONNX's
};

/// Of 1 to 3 axes in space; nothing for layouts with split axes.
std::optional<Layouts> layouts_of(const OperatorCall& call) {
  const size_t rank = call.rank(0);
  if (rank < 3 || rank > 5) return std::nullopt;
  const std::string space = std::string("DHW").substr(5 - rank);
  Layouts wanted{"NC" + space, "OI" + space};
  if (plain_layout(call.text("data_layout"), wanted.data).empty() ||
      plain_layout(call.text("kernel_layout"), wanted.weight).empty())
    return std::nullopt;
  return wanted;
}

Attributes windows(const OperatorCall& call) {
  return {{"strides", call.integers("st")},
          {"pads", call.integers("pad")},
          {"dilations", call.integers("di")},
          {"group", call.integer("groups")}};
}

Converted convolution(const Row&, OperatorCall& call) {
  const DType dtype = call.result()->dtype;
  const auto layouts = layouts_of(call);
  if (!layouts || !dtype.is_float() || call.type(0)->dtype != dtype || call.type(1)->dtype != dtype)
    return std::nullopt;
  const std::string data = call.text("data_layout");
  const Name input = call.to_layout(call.in(0), data, layouts->data);
  const Name weight = call.to_layout(call.in(1), call.text("kernel_layout"), layouts->weight);
  return one(call.to_layout(call.node("Conv", {input, weight}, windows(call)), layouts->data, data));
}

/// Its data are NCHW and its weights IOHW, as ONNX's.
Converted transposed_convolution(const Row&, OperatorCall& call) {
  const DType dtype = call.result()->dtype;
  const auto layouts = layouts_of(call);
  if (!layouts || !dtype.is_float() || call.text("data_layout") != layouts->data ||
      call.type(1)->dtype != dtype)
    return std::nullopt;
  Attributes attributes = windows(call);
  const size_t space = call.rank(0) - 2;
  auto output_padding = call.integers("output_padding");
  output_padding.resize(space, output_padding.empty() ? 0 : output_padding[0]);
  attributes.emplace_back("output_padding", output_padding);
  return one(call.node("ConvTranspose", {call.in(0), call.in(1)}, attributes));
}

Converted batch_norm(const Row&, OperatorCall& call) {
  if (call.integer("ax") != 1 || call.rank(0) < 2 || !call.flag("center") || !call.flag("scale"))
    return std::nullopt;
  const Name normal =
      call.node("BatchNormalization", {call.in(0), call.in(1), call.in(2), call.in(3), call.in(4)},
                {{"epsilon", call.real("epsilon")}});
  return GraphValue{"", {one(normal), one(call.in(3)), one(call.in(4))}};
}

Converted layer_norm(const Row&, OperatorCall& call) {
  const auto rank = static_cast<int64_t>(call.rank(0));
  const int64_t axis = call.integer("axis");
  if ((axis != -1 && axis != rank - 1) || !call.flag("center") || !call.flag("scale")) return std::nullopt;
  return one(call.node("LayerNormalization", {call.in(0), call.in(1), call.in(2)},
                       {{"axis", int64_t{-1}}, {"epsilon", call.real("epsilon")}}));
}

Converted instance_norm(const Row&, OperatorCall& call) {
  if (call.integer("axis") != 1 || call.rank(0) < 3 || !call.flag("center") || !call.flag("scale"))
    return std::nullopt;
  return one(call.node("InstanceNormalization", {call.in(0), call.in(1), call.in(2)},
                       {{"epsilon", call.real("epsilon")}}));
}

Converted along_axis(const Row& row, OperatorCall& call) {
  if (call.rank(0) == 0) return std::nullopt;
  return one(call.node(row.onnx, {call.in(0)}, {{"axis", call.integer("axis")}}));
}

}  // namespace

std::span<const Row> layer_rows() {
  static constexpr Row kRows[] = {
      {"nn.batch_norm", batch_norm},
      {"nn.conv1d", convolution},
      {"nn.conv1d_transpose", transposed_convolution},
      {"nn.conv2d", convolution},
      {"nn.conv2d_transpose", transposed_convolution},
      {"nn.conv3d", convolution},
      {"nn.conv3d_transpose", transposed_convolution},
      {"nn.instance_norm", instance_norm},
      {"nn.layer_norm", layer_norm},
      {"nn.log_softmax", along_axis, "LogSoftmax"},
      {"nn.softmax", along_axis, "Softmax"},
  };
  return kRows;
}

}  // namespace quern::onnx
