#include "import/operators/table.h"

namespace quern::onnx {

std::span<const Operator> recurrent_operators() { return {}; }

}  // namespace quern::onnx
