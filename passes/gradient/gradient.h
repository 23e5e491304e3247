#pragma once
// `grad(f)` and `value_and_grad(f)` as functions.

#include <vector>

#include "passes/gradient/reverse.h"
#include "passes/pass.h"

namespace quern {

/// What stands in the way of a gradient, each once, in the order of the text, for one `grad(…)`; or, where
/// nothing does, which reads it adds up by a `scatter`.
struct GradientProblem {
  Origin gradient;  ///< the `grad(…)`
  std::vector<Underivable> parts;
  std::vector<ScatterFallback> scattered = {};
};

/// Replaces `grad(f)` by a function that computes the gradients of f's parameters, in reverse. What f calls
/// is put into it first. One that cannot be made stays, and `gradient_problems` reports it.
ExprPtr expand_gradients(const PassContext& context, ExprPtr expr);

/// Of the gradients in an expression. Why there is a scatter is said of the reads that `explained` asks for.
std::vector<GradientProblem> gradient_problems(FunctionSource& functions, ExprPtr expr,
                                               const std::function<bool(Origin)>& explained);

/// Whether there is a `grad(…)` in the expression.
bool has_gradients(ExprPtr expr);

}  // namespace quern
