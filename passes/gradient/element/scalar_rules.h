#pragma once
// The derivatives of the scalar functions: one table.

#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// The cotangent of each argument of `call`, given the cotangent of its value; null if it is 0 (rounding,
/// comparisons) or the argument is not a floating-point number. Where no derivative exists, it is one-sided:
/// `max` and `min` give ties to the first operand, `abs` is flat at 0, as is 0 to the power 0.
std::vector<ExprPtr> scalar_cotangents(const ScalarBuilder& build, const ScalarExpr& call, ExprPtr cotangent);

}  // namespace quern
