#pragma once
// `quern import` from files to files.

#include <string>
#include <vector>

namespace quern::onnx {

struct ImportRequest {
  std::string model, output;
  std::vector<std::string> shapes, constants;  ///< NAME=…
  bool overwrites = false;
  std::string params;                ///< a file of TVM's parameters
  std::vector<std::string> results;  ///< nodes of a graph of TensorFlow whose values are wanted
};

/// Writes the text and the weights, and prints what it wrote. Where there are problems nothing is written; they are lines
/// fit to show a user.
std::vector<std::string> import_files(const ImportRequest& request);

}  // namespace quern::onnx
