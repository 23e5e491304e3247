#pragma once
// `quern export` from files to a file.

#include <string>
#include <vector>

namespace quern::onnx {

struct ExportFiles {
  std::string text, output;
  std::string function = "@main";
  std::string params;                  ///< the file of the parameter `%params`
  std::vector<std::string> constants;  ///< NAME=FILE
  bool overwrites = false;
};

/// Writes the model, and prints what it wrote. Where there are problems nothing is written; they are lines fit to show a user.
std::vector<std::string> export_files(const ExportFiles& request);

}  // namespace quern::onnx
