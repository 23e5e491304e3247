#pragma once

#include "passes/pass.h"

namespace quern {

/// Common subexpression elimination: a reduction that was computed before is not computed again. What is without one
/// is cheaper to compute where it is read than to keep. In A-normal form; a function keeps nothing for another.
ExprPtr cse(const PassContext& context, ExprPtr expr);

}  // namespace quern
