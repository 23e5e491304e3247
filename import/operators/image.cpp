#include "import/operators/table.h"

namespace quern::onnx {

std::span<const Operator> image_operators() { return {}; }

}  // namespace quern::onnx
