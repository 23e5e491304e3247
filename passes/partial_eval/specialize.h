#pragma once

#include "passes/pass.h"

namespace quern {

/// A pass: what partial evaluation leaves of each `specialize(f)`, with the definitions that it calls and what is
/// known of the values that it captures.
ExprPtr specialize(const PassContext& context, ExprPtr expr);

}  // namespace quern
