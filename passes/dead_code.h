#pragma once

#include "passes/pass.h"

namespace quern {

/// Drops bindings whose value is not used and whose evaluation is not seen from outside. Takes and gives
/// A-normal form.
ExprPtr dead_code(const PassContext& context, ExprPtr expr);

}  // namespace quern
