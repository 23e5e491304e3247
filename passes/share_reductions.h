#pragma once

#include "passes/pass.h"

namespace quern {

/// Gives a reduction that does not depend on all index variables around it a tensor of its own, over those on which it
/// depends: `[i < n, j < m] => exp(x[i, j]) / sum[k] exp(x[i, k])` computes a sum for each i, and not for each element.
/// Where much is computed again otherwise. From and to A-normal form.
ExprPtr share_reductions(const PassContext& context, ExprPtr expr);

}  // namespace quern
