#pragma once

#include "passes/pass.h"

namespace quern {

/// The call of a primitive function with body `body`, which consists only of index expressions: closed, its
/// parameters are the tensors it reads, in order of first occurrence.
ExprPtr make_kernel(Arena& arena, ExprPtr body);

/// Turns every index expression outside primitive functions into a call of one. From and to A-normal form.
ExprPtr lift_kernels(const PassContext& context, ExprPtr expr);

}  // namespace quern
