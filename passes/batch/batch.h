#pragma once
// `vmap(f)`: a function of rows, with one axis more in each of its index expressions (the batching of Bradbury
// et al. 2018, JAX, where each operator is an index expression).

#include "passes/pass.h"

namespace quern {

/// `f` over rows, for a function in A-normal form without operator calls. `type` is that of `vmap(f)`, and
/// gives the number of rows. What has no such form is called for each row; null if that is so of the whole.
const FnExpr* batched(const PassContext& context, const FnExpr& f, Type type);

/// A function that calls `f`, an atom, with each row.
const FnExpr* row_by_row(Arena& arena, ExprPtr f, Type type);

}  // namespace quern
