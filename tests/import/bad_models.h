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

  std::vector<std::string> problems(ImportRequest request = {}) {
    request.model = saved(model_, folder_ / "model.onnx");
    return problems_of(request);
  }
  std::vector<std::string> problems_of(ImportRequest request) {
    request.output = (folder_ / "out.relay").string();
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
