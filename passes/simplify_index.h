#pragma once

#include "passes/pass.h"

namespace quern {

/// Simplifies the dims of index expressions under what is known of their index variables: `min(i, 0)` is 0,
/// `i / n` is 0 for i < n. Checks of reads that are proved by now are dropped.
ExprPtr simplify_index(const PassContext& context, ExprPtr expr);

}  // namespace quern
