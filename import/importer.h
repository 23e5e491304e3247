#pragma once
// A model of ONNX as text of the language, with its weights as one record.

#include <map>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "ir/io/data_files.h"

namespace quern::onnx {

struct ImportOptions {
  /// Of inputs: extents as numbers or as names of dims.
  std::map<std::string, std::vector<std::string>> shapes;
  /// Inputs that become constants, by name.
  std::map<std::string, TensorPtr> constants;
  std::string source;   ///< what the comment at the beginning says of where the text is from
  std::string weights;  ///< the file that the text loads its weights from
};

struct Imported {
  std::string text;                   ///< in the canonical layout
  Entries<TensorPtr> weights;         ///< for the file that it loads; none if there are no weights
  std::vector<std::string> problems;  ///< why there is no text, a line each
};

/// The text of a model: a record for its weights, and `@main` of its inputs. Each operator is checked as it is written, so
/// that the text has the types that the checker gives it. All operators without a counterpart are reported, not the first.
Imported import_model(const Model& model, const ImportOptions& options);

}  // namespace quern::onnx
