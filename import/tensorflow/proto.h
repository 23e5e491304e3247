#pragma once
// Messages of TensorFlow's graphs to plain structs; for the sources of this folder alone.

#include <import/tensorflow/graph.pb.h>

#include "import/tensorflow/graph.h"

namespace quern::tensorflow {

/// A tensor's elements. They stay in the message's memory, which `owner` keeps, where their encoding is that of memory. Null
/// for elements that have no counterpart.
Result<TensorPtr> tensor_of(const format::TensorProto& tensor, const std::shared_ptr<const void>& owner);

}  // namespace quern::tensorflow
