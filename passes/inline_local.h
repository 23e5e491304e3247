#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces calls of function literals, and of variables that a `let` binds to one, by their bodies, where a
/// function does not name itself and the result stays under a size budget.
ExprPtr inline_local(const PassContext& context, ExprPtr expr);

}  // namespace quern
