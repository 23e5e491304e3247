#include "export/graph/write_model.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <limits>

#include "export/lower/element_ops.h"
#include "ir/io/data_formats.h"

namespace quern::onnx {

namespace {

/// Elements above these are written from where they are instead of by the message that they belong to.
constexpr size_t kLarge = 1024;

void describe(const HostTensor& tensor, const std::string& name, ::onnx::TensorProto& proto) {
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(code_of(tensor.dtype())));
  for (const int64_t extent : tensor.shape()) proto.add_dims(extent);
}

void fill(const HostTensor& tensor, const std::string& name, ::onnx::TensorProto& proto) {
  describe(tensor, name, proto);
  proto.set_raw_data(tensor.data(), tensor.bytes());
}

void fill(const Port& port, ::onnx::ValueInfoProto& proto) {
  proto.set_name(port.name);
  // The results of inner graphs have no types of their own.
  if (!port.dtype) return;
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int32_t>(code_of(*port.dtype)));
  if (!port.shape) return;
  tensor.mutable_shape();
  for (const Extent& extent : *port.shape) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (const auto* number = std::get_if<int64_t>(&extent))
      dim.set_dim_value(*number);
    else if (!std::get<std::string>(extent).empty())
      dim.set_dim_param(std::get<std::string>(extent));
  }
}

void fill(const Graph& graph, ::onnx::GraphProto& proto);

struct AttributeWriter {
  ::onnx::AttributeProto& proto;
  using Kind = ::onnx::AttributeProto;

  void operator()(std::monostate) const {}
  void operator()(const AttributeReference& reference) const { proto.set_ref_attr_name(reference.name); }
  void operator()(int64_t value) const {
    proto.set_type(Kind::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(Kind::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(Kind::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(Kind::INTS);
    for (const int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(Kind::FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(Kind::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
  void operator()(const TensorPtr& value) const {
    proto.set_type(Kind::TENSOR);
    fill(*value, "", *proto.mutable_t());
  }
  void operator()(const GraphPtr& value) const {
    proto.set_type(Kind::GRAPH);
    fill(*value, *proto.mutable_g());
  }
};

void fill(const Node& node, ::onnx::NodeProto& proto) {
  proto.set_name(node.name);
  proto.set_op_type(node.op);
  proto.set_domain(node.domain);
  for (const std::string& input : node.inputs) proto.add_input(input);
  for (const std::string& output : node.outputs) proto.add_output(output);
  for (const auto& [name, value] : node.attributes) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, value);
  }
}

void fill_without_tensors(const Graph& graph, ::onnx::GraphProto& proto) {
  proto.set_name(graph.name);
  for (const Port& port : graph.inputs) fill(port, *proto.add_input());
  for (const Port& port : graph.outputs) fill(port, *proto.add_output());
  for (const Node& node : graph.nodes) fill(node, *proto.add_node());
}

void fill(const Graph& graph, ::onnx::GraphProto& proto) {
  fill_without_tensors(graph, proto);
  for (const auto& [name, tensor] : graph.initializers) fill(*tensor, name, *proto.add_initializer());
}

// --- the wire format (protobuf.dev/programming-guides/encoding): a field is its number and kind, and for bytes their count

void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  bytes += static_cast<char>(value);
}

std::string head_of_field(int number, uint64_t size) {
  std::string bytes;
  append_varint(bytes, static_cast<uint64_t>(number) << 3 | 2);
  append_varint(bytes, size);
  return bytes;
}

/// A part of the file: bytes made for it, then the elements of a tensor.
struct Piece {
  std::string bytes;
  const HostTensor* elements = nullptr;
  uint64_t size() const { return bytes.size() + (elements ? elements->bytes() : 0); }
};

Piece piece_of(const HostTensor& tensor, const std::string& name) {
  ::onnx::TensorProto proto;
  describe(tensor, name, proto);
  std::string message = proto.SerializeAsString();
  message += head_of_field(::onnx::TensorProto::kRawDataFieldNumber, tensor.bytes());
  const std::string head =
      head_of_field(::onnx::GraphProto::kInitializerFieldNumber, message.size() + tensor.bytes());
  return {head + message, &tensor};
}

}  // namespace

Result<Done> write_model(const Model& model, const std::string& path) {
  ::onnx::ModelProto proto;
  proto.set_ir_version(::onnx::IR_VERSION);
  proto.set_producer_name(model.producer);
  auto& opset = *proto.add_opset_import();
  opset.set_domain("");
  opset.set_version(model.opset);
  ::onnx::GraphProto graph;
  fill_without_tensors(*model.graph, graph);
  std::vector<Piece> pieces;
  for (const auto& [name, tensor] : model.graph->initializers) {
    if (tensor->bytes() >= kLarge)
      pieces.push_back(piece_of(*tensor, name));
    else
      fill(*tensor, name, *graph.add_initializer());
  }
  pieces.insert(pieces.begin(), {graph.SerializeAsString(), nullptr});
  uint64_t size = 0;
  for (const Piece& piece : pieces) size += piece.size();
  if (size > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()) - 4096)
    return Failure{
        fmt::format("'{}': the model has {} bytes, and a file of ONNX less than 2 GiB", path, size)};
  data_detail::AtomicFile file(path);
  file.write(proto.SerializeAsString());
  file.write(head_of_field(::onnx::ModelProto::kGraphFieldNumber, size));
  for (const Piece& piece : pieces) {
    file.write(piece.bytes);
    if (piece.elements) file.write(std::span(piece.elements->data(), piece.elements->bytes()));
  }
  return file.commit();
}

}  // namespace quern::onnx
