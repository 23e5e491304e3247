#pragma once
// A model's file in two: a message without the bytes of large tensors, and those, each in memory once. A string of
// protobuf grows by copies while a file is read, and its elements are not aligned.

#include <map>
#include <memory>
#include <string>

#include "ir/base/result.h"

namespace quern::onnx {

/// Bytes, aligned to 64.
using Bytes = std::shared_ptr<const std::byte>;

struct ModelBytes {
  std::string message;                               ///< of a ModelProto
  std::map<int, std::pair<Bytes, size_t>> raw_data;  ///< by the number of the graph's initializer
};

/// Reads the file; fails for one that is truncated or is no message.
Result<ModelBytes> read_model_bytes(const std::string& path);

}  // namespace quern::onnx
