#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces calls of top-level functions by their bodies, where a function does not reach itself and the
/// result stays under a size budget. Dims that are constant at the call become constant in the body.
ExprPtr inline_calls(const PassContext& context, ExprPtr expr);

}  // namespace quern
