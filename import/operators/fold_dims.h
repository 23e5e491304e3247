#pragma once
// What is computed of shapes while a model is imported: exporters write `x.view(x.size(0), -1)` as half a dozen nodes.

#include "import/node/call.h"

namespace quern::onnx {

/// Sets the node's output and returns true where it is computed of shapes and integers that are known.
bool fold_dims(Call& call);

}  // namespace quern::onnx
