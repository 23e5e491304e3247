#pragma once
// Scalar functions on unboxed registers.

#include <cstdint>

#include "ir/value/scalar.h"
#include "ir/value/value.h"

namespace quern::vm {

/// `result` holds no object: it is written over. It may be one of the operands.
using ScalarFunction = void (*)(const Value& a, const Value& b, Value& result);

/// Number of the function for operands of this dtype; of one operand, `b` is ignored. Equal to `apply` for
/// every dtype, and quick for the common ones.
uint16_t scalar_function(ScalarOp op, DType operand);
/// What the function with this number computes.
ScalarOp scalar_op(uint16_t function);
/// Number of the conversion, or kSlowCast where `cast` of ir/value/scalar.h is to be used.
uint16_t cast_function(DType from, DType to);
constexpr uint16_t kSlowCast = UINT16_MAX;

extern const ScalarFunction* const scalar_functions;  ///< by number
extern const ScalarFunction* const cast_functions;

}  // namespace quern::vm
