#pragma once

#include "passes/pass.h"

namespace quern {

/// Drops bindings whose value is unused and whose evaluation has no observable effect. From and to A-normal
/// form.
ExprPtr dead_code(const PassContext& context, ExprPtr expr);

}  // namespace quern
