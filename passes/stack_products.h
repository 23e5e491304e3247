#pragma once

#include "passes/pass.h"

namespace quern {

/// Makes one product of a sum of products that differ in their operands alone: where `xs` has x0, x1, … along its first
/// axis, and `ys` y0, y1, …, `sum[i] x0[i, u] * y0[i, v] + sum[i] x1[i, u] * y1[i, v] + …` is
/// `sum[k, i] xs[k, i, u] * ys[k, i, v]`. The gradient by weights that many steps share is such a sum: it is written once
/// and not at each step. Done where the stacks take fewer bytes than the products. Sums have other orders then, so they are
/// of integers, float32 or wider. From and to A-normal form.
ExprPtr stack_products(const PassContext& context, ExprPtr expr);

}  // namespace quern
