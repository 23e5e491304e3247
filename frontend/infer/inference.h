#pragma once
// One inference: its parts, and the walk. Internal to frontend; the way in is frontend/infer/infer.h.

#include "frontend/infer/bodies/expressions.h"
#include "frontend/infer/solve/solve.h"

namespace quern {

struct Inference : Parts {
  Inference(Scope& scope, uint32_t declaration) : Parts(scope, declaration) {}

  Expressions walk{*this};
};

/// The types in the constraints of a scheme as the result has them.
void finish_constraints(Scheme& scheme, Context& context);
/// Whether there is an error in an expression or a type of it.
bool contains_errors(ExprPtr expr);

}  // namespace quern
