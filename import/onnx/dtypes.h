#pragma once
// ONNX's numbers of dtypes (`TensorProto.DataType`).

#include <cstdint>
#include <optional>
#include <string>

#include "ir/type/dtype.h"

namespace quern::onnx {

/// The dtype of elements in a file, or nothing for strings, complex numbers and unknown codes.
std::optional<DType> dtype_of(int32_t code);
/// ONNX's name for it ("STRING"), or the number.
std::string dtype_name(int64_t code);

}  // namespace quern::onnx
