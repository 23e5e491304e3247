#pragma once
// Reverse-mode differentiation of a function of tensors.

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "passes/gradient/adjoint.h"
#include "passes/pass.h"

namespace quern {

/// A part of a function that has no derivative.
struct Underivable {
  Origin origin;
  std::string what;
};

/// What to report about a node that has none.
Underivable no_derivative(ExprPtr expr);

/// `fn (params, cotangent) { (result, (gradient of each parameter)) }`.
struct VectorJacobian {
  const FnExpr* function;
  std::vector<ScatterFallback> fallbacks;
};

/// The vector-Jacobian product of a function of tensors and tuples of them, in A-normal form without operator
/// calls: from its parameters and a cotangent of its result's type, its result and a tuple with the gradient
/// of each parameter, of the parameter's type, with `()` in place of anything but floating-point tensors.
std::variant<VectorJacobian, std::vector<Underivable>> vector_jacobian(Arena& arena, const FnExpr& function);

/// What to report about the gradient of such a function, without constructing it.
struct GradientOutlook {
  std::vector<Underivable> underivable;    ///< parts without a derivative; empty if there are none
  std::vector<ScatterFallback> scattered;  ///< of the reads that `explained` accepts
};
GradientOutlook gradient_outlook(const FnExpr& function, const std::function<bool(Origin)>& explained);

}  // namespace quern
