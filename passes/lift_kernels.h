#pragma once

#include "passes/pass.h"

namespace quern {

/// Makes every index expression a call of a primitive function: closed, its parameters the tensors that it
/// reads, in order of first occurrence. Takes and gives A-normal form.
ExprPtr lift_kernels(const PassContext& context, ExprPtr expr);

}  // namespace quern
