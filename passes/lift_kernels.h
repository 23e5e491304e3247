#pragma once

#include <unordered_set>

#include "passes/pass.h"

namespace quern {

/// The call of a primitive function with body `body`, which consists only of index expressions: closed, its
/// parameters are the tensors it reads, in order of first occurrence. Those for variables in `fresh` are fresh.
ExprPtr make_kernel(Arena& arena, ExprPtr body, const std::unordered_set<const Variable*>& fresh = {});

/// Turns every index expression outside primitive functions into a call of one. From and to A-normal form. Parameters of
/// contractions are fresh (Variable::fresh) where their argument is computed in the same function, or is a parameter that
/// changes from turn to turn of a loop.
ExprPtr lift_kernels(const PassContext& context, ExprPtr expr);

}  // namespace quern
