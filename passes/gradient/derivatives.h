#pragma once
// The functions that `grad`, `value_and_grad`, `vjp` and `jvp` derive from a function.

#include <variant>
#include <vector>

#include "passes/gradient/reverse.h"
#include "passes/pass.h"

namespace quern {

/// For a function in the form that vector_jacobian takes.
std::variant<const FnExpr*, std::vector<Underivable>> derivative(const PassContext& context,
                                                                 IntrinsicKind kind, const FnExpr& function);

}  // namespace quern
