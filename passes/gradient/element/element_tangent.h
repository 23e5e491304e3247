#pragma once
// The tangent of an index expression: forward-mode differentiation of the expression of one element.

#include <functional>
#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// The tangent of a tensor that is read: a tensor of its type; null where it is 0.
using TangentOf = std::function<ExprPtr(const Variable*)>;

/// A tensor of the comprehension's type; null if it is 0 everywhere. Reductions whose values derivatives need
/// must be at the top of the body (split_reductions). Tensors that it reads beside the program's own are bound
/// in `bindings`, each after those it reads.
ExprPtr element_tangent(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                        const TangentOf& tangent_of, std::vector<Binding>& bindings);

}  // namespace quern
