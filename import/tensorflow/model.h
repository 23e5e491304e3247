#pragma once
// A frozen graph of TensorFlow as a model for the importer.

#include <string>
#include <vector>

#include "import/onnx/model.h"

namespace quern::tensorflow {

/// Reads the graph. `results` are the nodes whose values the model gives (`name`, `name:1`); without them, those that nothing
/// reads.
Result<onnx::Model> read_model(const std::string& path, const std::vector<std::string>& results);

}  // namespace quern::tensorflow
