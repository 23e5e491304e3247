#pragma once

#include "passes/pass.h"

namespace quern {

/// Replaces every operator call by the operator's definition: an index expression, a view, or (for
/// composites) a graph of these. After this pass no operator has a name.
ExprPtr instantiate_ops(const PassContext& context, ExprPtr expr);

}  // namespace quern
