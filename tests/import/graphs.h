#pragma once
// Small graphs of TensorFlow for tests.

#include <import/tensorflow/graph.pb.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace quern::tensorflow {

inline format::NodeDef& add_node(format::GraphDef& graph, const std::string& op, const std::string& name,
                                 const std::vector<std::string>& inputs = {}) {
  auto* node = graph.add_node();
  node->set_op(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  return *node;
}

inline void set_shape(format::TensorShapeProto& shape, const std::vector<int64_t>& extents) {
  for (const int64_t extent : extents) shape.add_dim()->set_size(extent);
}

inline format::NodeDef& add_input(format::GraphDef& graph, const std::string& name,
                                  const std::vector<int64_t>& shape,
                                  format::DataType dtype = format::DT_FLOAT) {
  auto& node = add_node(graph, "Placeholder", name);
  (*node.mutable_attr())["dtype"].set_type(dtype);
  set_shape(*(*node.mutable_attr())["shape"].mutable_shape(), shape);
  return node;
}

inline format::TensorProto& add_constant(format::GraphDef& graph, const std::string& name,
                                         const std::vector<int64_t>& shape,
                                         const std::vector<float>& elements) {
  auto& node = add_node(graph, "Const", name);
  auto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(format::DT_FLOAT);
  set_shape(*tensor.mutable_tensor_shape(), shape);
  tensor.set_tensor_content(elements.data(), elements.size() * sizeof(float));
  return tensor;
}

inline std::string saved(const google::protobuf::Message& message, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  message.SerializeToOstream(&file);
  return path.string();
}

}  // namespace quern::tensorflow
