#pragma once

#include "passes/pass.h"

namespace quern {

/// `checkpoint(f)`: a function with a clause that calls `vjp(f)`, and thus computes the values that it needs again
/// (Griewank & Walther 2000). `f` has the functions that it calls inside of it.
///
/// The clause gives a gradient for each tensor: records are opened, and what `f` uses from outside is an operand like
/// its parameters. Null where one is neither: a list, say, has no fixed number of tensors.
const FnExpr* checkpointed(const PassContext& context, const FnExpr& f, Origin origin);

}  // namespace quern
