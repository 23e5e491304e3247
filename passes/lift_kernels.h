#pragma once

#include "passes/pass.h"

namespace quern {

/// The call of a primitive function whose body is `body`, which index expressions alone make up: closed, its
/// parameters the tensors that it reads, in order of first occurrence.
ExprPtr make_kernel(Arena& arena, ExprPtr body);

/// Makes every index expression that is no part of one a call of a primitive function. Takes and gives
/// A-normal form.
ExprPtr lift_kernels(const PassContext& context, ExprPtr expr);

}  // namespace quern
