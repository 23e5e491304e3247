#pragma once
// A model of ONNX as text of the language, with its weights as one record.

#include <map>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "import/text/imported.h"

namespace quern::onnx {

struct ImportOptions {
  /// Of inputs: extents as numbers or as names of dims.
  std::map<std::string, std::vector<std::string>> shapes;
  /// Inputs that become constants, by name.
  std::map<std::string, TensorPtr> constants;
  std::string source;   ///< what the comment at the beginning says of where the text is from
  std::string weights;  ///< the file that the text loads its weights from
};

using import_text::Imported;

/// The text of a model: a record for its weights, and `@main` of its inputs. Each operator is checked as it is written, so
/// that the text has the types that the checker gives it. All operators without a counterpart are reported, not the first.
Imported import_model(const Model& model, const ImportOptions& options);

}  // namespace quern::onnx
