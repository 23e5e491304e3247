#pragma once
// ONNX's own test data (Debian: libonnx-testdata): a folder for each model, with tensors for its inputs and outputs.

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "import/importer.h"

namespace quern::onnx {

inline const std::filesystem::path kOnnxData = "/usr/share/libonnx-testdata/data";

/// The inputs that the model does not give itself.
inline std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Port& port : graph.inputs)
    if (!graph.initializers.contains(port.name)) names.push_back(port.name);
  return names;
}

/// The tensors of a kind (`input_`, `output_`) in a model's folder, by their names in the model.
inline Result<std::map<std::string, TensorPtr>> tensors_beside(const std::filesystem::path& folder,
                                                               const std::string& kind,
                                                               const std::vector<std::string>& names) {
  std::map<std::string, TensorPtr> result;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::filesystem::path path = folder / "test_data_set_0" / fmt::format("{}{}.pb", kind, i);
    if (!std::filesystem::exists(path)) continue;
    auto tensor = read_tensor(path.string());
    if (!tensor) return tensor.error();
    result[names[i]] = *tensor;
  }
  return result;
}

/// The text of a model. What has to be known when it is imported is given as a user would, by `--constant`.
inline Imported import_with_constants(const Model& model, const std::map<std::string, TensorPtr>& inputs,
                                      ImportOptions& options) {
  Imported imported = import_model(model, options);
  for (int attempt = 0; attempt < 8 && !imported.problems.empty(); ++attempt) {
    std::smatch match;
    static const std::regex kOption("--constant ([^=]+)=");
    if (!std::regex_search(imported.problems[0], match, kOption) || !inputs.contains(match[1])) break;
    options.constants[match[1]] = inputs.at(match[1]);
    imported = import_model(model, options);
  }
  return imported;
}

}  // namespace quern::onnx
