#pragma once
// Scalar functions on unboxed registers.

#include <cstdint>

#include "ir/value/scalar.h"
#include "ir/value/value.h"

namespace quern::vm {

/// `result` holds no object and is overwritten. It may be one of the operands.
using ScalarFunction = void (*)(const Value& a, const Value& b, Value& result);

/// The number of the function for operands of this dtype; unary functions ignore `b`. Agrees with `apply` for
/// every dtype, and is fast for the common ones.
uint16_t scalar_function(ScalarOp op, DType operand);
/// The operation of the function with this number.
ScalarOp scalar_op(uint16_t function);
/// The number of the conversion, or kSlowCast if `cast` of ir/value/scalar.h must be used.
uint16_t cast_function(DType from, DType to);
constexpr uint16_t kSlowCast = UINT16_MAX;

extern const ScalarFunction* const scalar_functions;  ///< by number
extern const ScalarFunction* const cast_functions;

}  // namespace quern::vm
