#pragma once
// One inference: its parts and the walk. Internal to frontend; the entry point is frontend/infer/infer.h.

#include "frontend/infer/bodies/expressions.h"
#include "frontend/infer/solve/solve.h"

namespace quern {

struct Inference : Parts {
  Inference(Scope& scope, uint32_t declaration) : Parts(scope, declaration) {}

  Expressions walk{*this};
};

/// Finishes the types in a scheme's constraints.
void finish_constraints(Scheme& scheme, Context& context);
/// Whether an expression or one of its types contains an error.
bool contains_errors(ExprPtr expr);

}  // namespace quern
