#pragma once

#include "passes/pass.h"

namespace quern {

/// What only derivatives ask for goes: a value with a gradient of its own, one that passes nothing on and a
/// function that is computed twice are the value and the function. Runs once gradients are expanded and
/// operators are instantiated.
ExprPtr drop_derivatives(const PassContext& context, ExprPtr expr);

}  // namespace quern
