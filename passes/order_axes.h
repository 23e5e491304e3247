#pragma once

#include "passes/pass.h"

namespace quern {

/// Stores intermediate tensors with their axes in the order that suits the kernels which make and read them
/// (passes/layout/choose_orders.h): an index expression makes its tensor with permuted index variables, and
/// reads have permuted indices. So a convolution of NCHW text leaves its channels innermost, and nothing is
/// transposed on the way to the next.
ExprPtr order_axes(const PassContext& context, ExprPtr expr);

}  // namespace quern
