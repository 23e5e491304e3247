#pragma once
// `grad(f)` and `value_and_grad(f)` as functions.

#include <vector>

#include "passes/gradient/reverse.h"
#include "passes/pass.h"

namespace quern {

/// The parts of one `grad(…)` that cannot be differentiated, each once, in source order; if there are none,
/// the reads whose gradient is accumulated by a `scatter`.
struct GradientProblem {
  Origin gradient;  ///< the `grad(…)`
  std::vector<Underivable> parts;
  std::vector<ScatterFallback> scattered = {};
};

/// What a `vmap(f)` outside of gradients becomes: code for all rows, or calls of `f` with each, which share nothing
/// with it and are the interpreter's.
enum class RowFunctions : uint8_t { Batched, RowByRow };

/// Replaces `grad(f)` by a function that computes the gradients of f's parameters in reverse mode, after
/// inlining f's calls, and `vmap(f)` by one over rows. One that cannot be made stays, and `gradient_problems`
/// reports it.
ExprPtr expand_gradients(const PassContext& context, ExprPtr expr, RowFunctions rows = RowFunctions::Batched);

/// The problems of the gradients in an expression. Scatters are explained for the reads that `explained`
/// accepts.
std::vector<GradientProblem> gradient_problems(FunctionSource& functions, ExprPtr expr,
                                               const std::function<bool(Origin)>& explained);

/// Whether there is a `grad(…)`, or another such call, in the expression.
bool has_gradients(ExprPtr expr);

}  // namespace quern
