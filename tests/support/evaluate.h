#pragma once
// Expressions and functions in the interpreter.

#include <vector>

#include "ir/interpret/interpreter.h"
#include "ir/value/value.h"

namespace quern::numeric {

/// The value of an expression; unit, and a failure of the test, where it has none.
Value evaluated(ExprPtr expr, const Environment& environment = {});
/// The result of a function without operator calls.
Value called(const FnExpr& function, const std::vector<Value>& args);

/// Whether two tensors have the same shape, dtype and bits.
bool same_bits(const HostTensor& a, const HostTensor& b);

}  // namespace quern::numeric
