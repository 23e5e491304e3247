#pragma once

#include "passes/pass.h"

namespace quern {

/// Inlines calls of top-level functions that are not recursive, within a size budget. Dims that are constant
/// at the call become constant in the body.
ExprPtr inline_calls(const PassContext& context, ExprPtr expr);

}  // namespace quern
