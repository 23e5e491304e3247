#pragma once
// What models of a node or two compute.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "import/program/import_files.h"
#include "tests/import/models.h"
#include "tests/import/text_results.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

inline void set_integers(::onnx::NodeProto& node, const std::string& name,
                         const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

inline void set_integer(::onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(value);
}

inline void set_float(::onnx::NodeProto& node, const std::string& name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

inline void add_integers(::onnx::ModelProto& model, const std::string& name,
                         const std::vector<int64_t>& values) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(::onnx::TensorProto::INT64);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values) tensor->add_int64_data(value);
}

inline TensorPtr floats(const Shape& shape, const std::vector<float>& elements) {
  return HostTensor::from<float>(DType::float32(), shape, elements);
}

/// The result of a model's text for its input `x`, interpreted or compiled.
inline TensorPtr computed(const ::onnx::ModelProto& model, const std::map<std::string, TensorPtr>& inputs,
                          bool interprets) {
  const TemporaryFolder folder;
  const std::string file = saved(model, folder / "model.onnx"), text = (folder / "out.relay").string();
  EXPECT_EQ(import_files({file, text, {}, {}, true}), std::vector<std::string>());
  std::ostringstream content;
  content << std::ifstream(text).rdbuf();
  SCOPED_TRACE(content.str());
  return result_of(content.str(), folder.path(), inputs, interprets);
}

inline std::vector<double> elements_of(const TensorPtr& tensor) {
  std::vector<double> elements;
  for (int64_t i = 0; tensor && i < tensor->size(); ++i) elements.push_back(element_as_double(*tensor, i));
  return elements;
}

}  // namespace quern::onnx
