#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <fstream>

#include "import/onnx/model_bytes.h"
#include "import/onnx/proto.h"

namespace quern::onnx {

namespace {

/// How deep graphs may stand in attributes of nodes: more than any model has, and little for the stack.
constexpr int kDeepest = 64;

/// Parses a message that may have graphs within graphs.
template <class Message>
bool parse(Message& message, const std::string& bytes) {
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(4 * kDeepest);
  return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

template <class Imports>
int64_t default_opset(const Imports& imports) {
  for (const auto& opset : imports)
    if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
  return 0;
}

/// Turns the messages of one file into structs; the first problem stops it.
class Reader {
 public:
  /// `raw_data` are the bytes of initializers that the message lacks.
  Reader(std::shared_ptr<const void> owner, std::filesystem::path folder,
         const std::map<int, std::pair<Bytes, size_t>>& raw_data)
      : owner_(std::move(owner)), folder_(std::move(folder)), raw_data_(raw_data) {}

  Result<GraphPtr> graph(const ::onnx::GraphProto& proto, int depth = 0) {
    if (depth > kDeepest) return Failure{"graphs stand too deep in each other"};
    auto graph = std::make_shared<Graph>();
    graph->name = proto.name();
    for (int i = 0; i < proto.initializer_size(); ++i) {
      const auto& tensor = proto.initializer(i);
      const auto large = depth == 0 ? raw_data_.find(i) : raw_data_.end();
      auto value = large != raw_data_.end() ? tensor_over(tensor, large->second.first, large->second.second)
                                            : tensor_of(tensor, owner_, folder_);
      if (!value) return value.error();
      graph->initializers.insert_or_assign(tensor.name(), std::move(*value));
    }
    if (proto.sparse_initializer_size() > 0) return Failure{"sparse initializers are not read"};
    for (const auto& port : proto.input()) graph->inputs.push_back(port_of(port));
    for (const auto& port : proto.output()) graph->outputs.push_back(port_of(port));
    for (const auto& proto_node : proto.node()) {
      auto node = node_of(proto_node, depth);
      if (!node) return node.error();
      graph->nodes.push_back(std::move(*node));
    }
    return GraphPtr(std::move(graph));
  }

  Result<Function> function(const ::onnx::FunctionProto& proto) {
    Function function;
    function.inputs.assign(proto.input().begin(), proto.input().end());
    function.outputs.assign(proto.output().begin(), proto.output().end());
    function.opset = default_opset(proto.opset_import());
    for (const auto& proto_node : proto.node()) {
      auto node = node_of(proto_node, 0);
      if (!node) return node.error();
      function.nodes.push_back(std::move(*node));
    }
    return function;
  }

 private:
  static Port port_of(const ::onnx::ValueInfoProto& proto) {
    Port port{proto.name(), {}, {}, {}};
    if (!proto.has_type()) return port;
    if (!proto.type().has_tensor_type()) {
      port.fault = proto.type().has_sequence_type()        ? "a sequence"
                   : proto.type().has_map_type()           ? "a map"
                   : proto.type().has_optional_type()      ? "an optional value"
                   : proto.type().has_sparse_tensor_type() ? "a sparse tensor"
                                                           : "no tensor";
      return port;
    }
    const auto& tensor = proto.type().tensor_type();
    port.dtype = dtype_of(tensor.elem_type());
    if (!port.dtype && tensor.elem_type() != 0) port.fault = "a tensor of strings or complex numbers";
    if (!tensor.has_shape()) return port;
    port.shape.emplace();
    for (const auto& dim : tensor.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() >= 0)
        port.shape->emplace_back(dim.dim_value());
      else
        port.shape->emplace_back(dim.dim_param());
    }
    return port;
  }

  Result<Node> node_of(const ::onnx::NodeProto& proto, int depth) {
    Node node{proto.name(), proto.op_type(), proto.domain() == "ai.onnx" ? "" : proto.domain(), {}, {}, {}};
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (const auto& attribute : proto.attribute()) {
      auto value = attribute_of(attribute, depth);
      if (!value) return Failure{fmt::format("{} `{}`: {}", node.op, node.name, value.error().message)};
      node.attributes.insert_or_assign(attribute.name(), std::move(*value));
    }
    return node;
  }

  Result<AttributeValue> attribute_of(const ::onnx::AttributeProto& proto, int depth) {
    using Kind = ::onnx::AttributeProto;
    if (!proto.ref_attr_name().empty()) return AttributeValue(AttributeReference{proto.ref_attr_name()});
    switch (proto.type()) {
      case Kind::INT: return AttributeValue(int64_t{proto.i()});
      case Kind::FLOAT: return AttributeValue(double{proto.f()});
      case Kind::STRING: return AttributeValue(proto.s());
      case Kind::INTS: return AttributeValue(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
      case Kind::FLOATS:
        return AttributeValue(std::vector<double>(proto.floats().begin(), proto.floats().end()));
      case Kind::STRINGS:
        return AttributeValue(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
      case Kind::TENSOR: {
        auto tensor = tensor_of(proto.t(), owner_, folder_);
        if (!tensor) return tensor.error();
        return AttributeValue(std::move(*tensor));
      }
      case Kind::GRAPH: {
        auto inner = graph(proto.g(), depth + 1);
        if (!inner) return inner.error();
        return AttributeValue(std::move(*inner));
      }
      default: return AttributeValue();
    }
  }

  std::shared_ptr<const void> owner_;
  std::filesystem::path folder_;
  const std::map<int, std::pair<Bytes, size_t>>& raw_data_;
};

std::filesystem::path folder_of(const std::string& path) { return std::filesystem::path(path).parent_path(); }

}  // namespace

Result<Model> read_model(const std::string& path) {
  const auto bytes = read_model_bytes(path);
  if (!bytes) return bytes.error();
  auto proto = std::make_shared<::onnx::ModelProto>();
  if (!parse(*proto, bytes->message))
    return Failure{fmt::format("`{}` is no ONNX model, or only a part of one", path)};
  if (!proto->has_graph()) return Failure{fmt::format("`{}` is no ONNX model: it has no graph", path)};
  Model model;
  model.producer = proto->producer_name();
  if (!model.producer.empty() && !proto->producer_version().empty())
    model.producer += " " + proto->producer_version();
  model.opset = default_opset(proto->opset_import());
  Reader reader(proto, folder_of(path), bytes->raw_data);
  auto graph = reader.graph(proto->graph());
  if (!graph) return Failure{fmt::format("`{}`: {}", path, graph.error().message)};
  model.graph = std::move(*graph);
  for (const auto& function_proto : proto->functions()) {
    auto function = reader.function(function_proto);
    if (!function) return Failure{fmt::format("`{}`: {}", path, function.error().message)};
    model.functions[{function_proto.domain(), function_proto.name()}] = std::move(*function);
  }
  return model;
}

Result<TensorPtr> read_tensor(const std::string& path) {
  auto proto = std::make_shared<::onnx::TensorProto>();
  std::ifstream file(path, std::ios::binary);
  if (!file || !proto->ParseFromIstream(&file))
    return Failure{fmt::format("`{}` is no tensor of ONNX", path)};
  return tensor_of(*proto, proto, folder_of(path));
}

}  // namespace quern::onnx
