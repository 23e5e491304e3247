#pragma once
// Models that cannot be imported, and what is said of them.

#include <gmock/gmock.h>

#include "import/program/import_files.h"
#include "tests/import/models.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

class BadModels : public testing::Test {
 protected:
  BadModels() : model_(empty_model()) { add_input(model_, "x", {"2", "3"}); }

  /// `x` through one node to `y`.
  ::onnx::NodeProto& through(const std::string& op, const std::vector<std::string>& more = {}) {
    std::vector<std::string> inputs = {"x"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    add_output(model_, "y");
    return add_node(model_, op, inputs, {"y"});
  }

  using Integers = std::vector<int64_t>;
  /// Sets an attribute of the first node.
  void set(const std::string& name, const char* value) {
    fresh(name, ::onnx::AttributeProto::STRING).set_s(value);
  }
  void set(const std::string& name, int64_t value) { fresh(name, ::onnx::AttributeProto::INT).set_i(value); }
  void set(const std::string& name, const Integers& values) {
    auto& attribute = fresh(name, ::onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
  }
  void set(const std::string& name, float value) { fresh(name, ::onnx::AttributeProto::FLOAT).set_f(value); }
  void remove(const std::string& name) { fresh(name, ::onnx::AttributeProto::INT).set_name("of_no_meaning"); }

  ::onnx::AttributeProto& fresh(const std::string& name, ::onnx::AttributeProto::AttributeType type) {
    auto& node = *model_.mutable_graph()->mutable_node(0);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == name) {
        attribute.Clear();
        attribute.set_name(name);
        attribute.set_type(type);
        return attribute;
      }
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
  }

  /// The only problem is one of the first node.
  void expect(const std::string& problem) {
    EXPECT_THAT(problems(), testing::ElementsAre(model_.graph().node(0).op_type() + " `y`: " + problem));
  }

  std::vector<std::string> problems(ImportRequest request = {}) {
    request.model = saved(model_, folder_ / "model.onnx");
    return problems_of(request);
  }
  std::vector<std::string> problems_of(ImportRequest request) {
    request.output = (folder_ / "out.relay").string();
    for (const char* file : {"out.relay", "out.safetensors"}) std::filesystem::remove(folder_ / file);
    auto found = import_files(request);
    if (!found.empty()) {
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out.relay"));
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out.safetensors"));
    }
    return found;
  }

  /// Adds to `x` the weight `w` of 2 elements, which is in another file.
  void add_external(const std::vector<std::pair<std::string, std::string>>& entries) {
    through("Add", {"w"});
    auto& weight = add_weight(model_, "w", {2}, {});
    weight.clear_raw_data();
    weight.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = weight.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
  }

  TemporaryFolder folder_;
  ::onnx::ModelProto model_;
};

}  // namespace quern::onnx
