#pragma once
// How much arithmetic a primitive function says.

#include "ir/expr/expr.h"

namespace quern {

/// The scalar functions on floats of a primitive's index expressions, each as often as its loops say: a
/// multiplication and an addition are two, a reduction's step is one, and so is a function such as exp. Terms
/// of padding count; of two arms the one with more counts. Over the dims of the calling frame; null where a
/// loop's extent depends on another loop's variable.
Dim operation_count(const FnExpr& primitive);

}  // namespace quern
