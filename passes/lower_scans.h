#pragma once
// `scan_over(f, init, xs)` as a function that calls itself.

#include "passes/pass.h"

namespace quern {

/// A pass, in A-normal form: each becomes a loop whose rows of the result are written in place. It comes after
/// partial evaluation, which would unfold the loop.
ExprPtr lower_scans(const PassContext& context, ExprPtr expr);

/// One of them as a loop of code that has a derivative: each step makes the rows of the result anew.
ExprPtr differentiable_loop(Arena& arena, const IntrinsicExpr& scan);

}  // namespace quern
