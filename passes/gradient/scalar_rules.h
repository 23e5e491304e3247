#pragma once
// The derivatives of the scalar functions: one table.

#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// What each argument of `call` takes of `cotangent`, that of its value; null where nothing: the derivative
/// is 0 (rounding, comparisons), or the argument is no floating-point number. Where a derivative does not
/// exist it is one from a side: `max` and `min` give ties to the first operand, `abs` is flat at 0, a power
/// of 0 to 0 too.
std::vector<ExprPtr> scalar_cotangents(const ScalarBuilder& build, const ScalarExpr& call, ExprPtr cotangent);

}  // namespace quern
