#pragma once
// A model as a file.

#include <string>

#include "import/onnx/model.h"

namespace quern::onnx {

/// Writes the model, at once or not at all. The elements of tensors go to the file from where they are. Fails where the message
/// would have 2 GiB, which protobuf cannot have, and for what the file system refuses.
Result<Done> write_model(const Model& model, const std::string& path);

}  // namespace quern::onnx
