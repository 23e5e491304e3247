#pragma once

#include "passes/pass.h"

namespace quern {

/// Simplifies the dims of index expressions using the ranges of their index variables: `min(i, 0)` is 0, `i /
/// n` is 0 for i < n. Drops checks of reads that are now proved.
ExprPtr simplify_index(const PassContext& context, ExprPtr expr);

}  // namespace quern
