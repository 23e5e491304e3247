#pragma once
// The stored graphs of TensorFlow with their inputs and results (graph_cases.py).

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ir/io/data_files.h"

namespace quern::onnx {

inline const std::filesystem::path kGraphs = QUERN_SOURCE_DIR "/tests/import/graphs";

struct GraphCase {
  std::string family, name;
  TensorPtr graph;
  std::map<std::string, TensorPtr> inputs;
  std::vector<TensorPtr> results;
};

inline std::vector<GraphCase> graph_cases() {
  std::vector<GraphCase> all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kGraphs)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const auto entries = read_tensors(file.string());
    if (!entries) continue;
    for (const auto& [key, tensor] : *entries) {
      const std::string name = key.substr(0, key.find('/')), rest = key.substr(name.size() + 1);
      if (all.empty() || all.back().name != name)
        all.push_back({file.stem().string(), name, nullptr, {}, {}});
      if (rest == "graph") all.back().graph = tensor;
      if (rest.starts_with("in/")) all.back().inputs[rest.substr(3)] = tensor;
      if (rest.starts_with("out/")) all.back().results.push_back(tensor);
    }
  }
  return all;
}

inline void write_graph(const GraphCase& test, const std::filesystem::path& path) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(test.graph->data()),
             static_cast<std::streamsize>(test.graph->bytes()));
}

}  // namespace quern::onnx
