#pragma once

#include "passes/pass.h"

namespace quern {

/// Bounds of the work, in steps: a call or a binding of the result.
struct PartialEvalLimits {
  size_t unfolding = 10'000;  ///< of one call with the calls in it: beyond it the call remains
  size_t total = 100'000;     ///< of all unfolding
  size_t depth = 500;         ///< of calls within calls
};

/// Partial evaluation in A-normal form (Roesch 2020, section 4.0.3): calls of known functions are unfolded,
/// tuples, constructors' values and references that do not leave what is known are resolved, `if` and `match`
/// on known values are decided, and arithmetic on known integers is done. The order of effects is kept.
///
/// It ends: a call whose unfolding would go on under a condition that is not known, or beyond the limits,
/// stays a call of a function that is made once. Top-level functions are not unfolded.
ExprPtr partial_eval(const PassContext& context, ExprPtr expr, const PartialEvalLimits& limits = {});

/// The same for an expression with a gradient's tape (passes/gradient/lifting); others are left as they are.
ExprPtr evaluate_tapes(const PassContext& context, ExprPtr expr);

}  // namespace quern
