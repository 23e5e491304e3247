#include "ir/interpret/frame.h"

#include <new>

#include <fmt/format.h>

namespace quern::interpreter {

void fail(const Expr& at, std::string message, FailureKind kind) {
  throw Stop{{.message = std::move(message), .origin = at.origin, .kind = kind}};
}

TensorPtr make_tensor(const Expr& at, DType dtype, Shape shape) {
  if (!fits_memory(dtype, shape)) fail(at, fmt::format("{} is too large", type_to_string(dtype, shape)));
  try {
    return HostTensor::make(dtype, shape);
  } catch (const std::bad_alloc&) {
    fail(at, fmt::format("there is not enough memory for {}", type_to_string(dtype, shape)));
  }
}

}  // namespace quern::interpreter
