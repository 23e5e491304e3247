#pragma once
// Protobuf messages of ONNX to plain structs; for the sources of this folder alone.

#include <onnx/onnx_pb.h>

#include <filesystem>

#include "import/onnx/dtypes.h"
#include "import/onnx/model.h"

namespace quern::onnx {

/// A tensor's elements. They stay in the message's memory, which `owner` keeps, where their encoding is that of memory;
/// those of files are in `folder`.
Result<TensorPtr> tensor_of(const ::onnx::TensorProto& tensor, const std::shared_ptr<const void>& owner,
                            const std::filesystem::path& folder);

/// The same of a tensor whose `raw_data` are apart from its message.
Result<TensorPtr> tensor_over(const ::onnx::TensorProto& tensor,
                              const std::shared_ptr<const std::byte>& bytes, size_t size);

}  // namespace quern::onnx
