#pragma once

#include "passes/pass.h"

namespace quern {

/// Adds what a scatter adds to zeros to the tensor that it is added to, where only a linear index expression reads it:
/// `w[i] - 0.1 * (scatter[k] 0 at t[k] += v[k])` is `scatter[k] w[i] at t[k] += -0.1 * v[k]`. A step of an optimiser then
/// changes the rows of a table that were read, and not the whole table. Sums of several terms round in another order, so they
/// are of 64 terms at the most, in float32 or wider. From and to A-normal form.
ExprPtr scatter_onto(const PassContext& context, ExprPtr expr);

}  // namespace quern
