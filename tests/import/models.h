#pragma once
// Small models of ONNX for tests.

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace quern::onnx {

inline ::onnx::ModelProto empty_model() {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  auto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  model.mutable_graph()->set_name("test");
  return model;
}

inline void set_type(::onnx::ValueInfoProto& port, const std::string& name,
                     const std::vector<std::string>& shape, int dtype = ::onnx::TensorProto::FLOAT) {
  port.set_name(name);
  auto* type = port.mutable_type()->mutable_tensor_type();
  type->set_elem_type(dtype);
  for (const std::string& extent : shape) {
    auto* dim = type->mutable_shape()->add_dim();
    if (extent.find_first_not_of("0123456789") == std::string::npos && !extent.empty())
      dim->set_dim_value(std::stoll(extent));
    else
      dim->set_dim_param(extent);
  }
}

inline void add_input(::onnx::ModelProto& model, const std::string& name,
                      const std::vector<std::string>& shape, int dtype = ::onnx::TensorProto::FLOAT) {
  set_type(*model.mutable_graph()->add_input(), name, shape, dtype);
}
inline void add_output(::onnx::ModelProto& model, const std::string& name) {
  model.mutable_graph()->add_output()->set_name(name);
}

inline ::onnx::NodeProto& add_node(::onnx::ModelProto& model, const std::string& op,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
  auto* node = model.mutable_graph()->add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return *node;
}

inline ::onnx::TensorProto& add_weight(::onnx::ModelProto& model, const std::string& name,
                                       const std::vector<int64_t>& shape,
                                       const std::vector<float>& elements) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(::onnx::TensorProto::FLOAT);
  for (int64_t extent : shape) tensor->add_dims(extent);
  tensor->set_raw_data(elements.data(), elements.size() * sizeof(float));
  return *tensor;
}

inline std::string saved(const ::onnx::ModelProto& model, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  model.SerializeToOstream(&file);
  return path.string();
}

}  // namespace quern::onnx
