#pragma once
// The amount of arithmetic that a primitive function specifies.

#include "ir/expr/expr.h"

namespace quern {

/// The number of floating-point scalar functions in a primitive's index expressions, times their loop steps:
/// a multiplication and an addition are two, a reduction step is one, and so is a function such as exp. Terms
/// of padding count; of two arms, the larger one counts. A dim over the dims of the calling frame; null if a
/// loop's extent depends on another loop's variable.
Dim operation_count(const FnExpr& primitive);

}  // namespace quern
