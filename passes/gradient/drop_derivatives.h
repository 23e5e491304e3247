#pragma once

#include "passes/pass.h"

namespace quern {

/// Removes nodes that only differentiation needs: a value with its own gradient and one that stops gradients
/// become the value, a checkpointed function becomes the function. Runs after gradients are expanded and
/// operators instantiated.
ExprPtr drop_derivatives(const PassContext& context, ExprPtr expr);

}  // namespace quern
