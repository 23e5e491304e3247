#pragma once
// Forward mode for programs that are more than index expressions: each tensor carries its tangent.

#include <variant>
#include <vector>

#include "passes/gradient/reverse.h"

namespace quern {

/// As `jacobian_vector`, of any function whose result is tensors and tuples of them, with tangents in the
/// structure of the parameters. Every function that it calls is a variable inside of it.
std::variant<const FnExpr*, std::vector<Underivable>> dual_jacobian_vector(const PassContext& context,
                                                                           const FnExpr& function);

}  // namespace quern
