#pragma once

#include "passes/pass.h"

namespace quern {

/// Whether evaluating the expression may have an effect (print, files, a call that may have one, a failure at
/// run time).
bool may_have_effect(ExprPtr expr);

/// Drops bindings whose value is not used and has no effect. Takes and gives A-normal form.
ExprPtr dead_code(const PassContext& context, ExprPtr expr);

}  // namespace quern
