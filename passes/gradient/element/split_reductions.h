#pragma once
// Turns reductions whose values derivatives need into separate tensors.

#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// The comprehension with every reduction in a nonlinear position (a squared sum, say) replaced by a read of
/// a tensor, bound in `bindings`, that holds its value at each point: the derivative then reads the value
/// instead of recomputing it for each of the reduction's points. Reductions whose range depends on other
/// variables stay.
const ComprehensionExpr* split_reductions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                                          std::vector<Binding>& bindings);

}  // namespace quern
