#pragma once

#include "passes/pass.h"

namespace quern {

/// Inlines calls of function literals and of variables that a `let` binds to one, if the function is not
/// recursive, within a size budget.
ExprPtr inline_local(const PassContext& context, ExprPtr expr);

}  // namespace quern
