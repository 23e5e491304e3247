#pragma once
// Reductions whose values derivatives need, as tensors of their own.

#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// The comprehension with every reduction that does not stand in a linear position (a sum that is squared,
/// say) replaced by a read of a tensor, bound in `bindings`, that holds it at each point: the derivative then
/// reads the value where it would compute it again for each of the reduction's own points. Reductions over
/// ranges that depend on other variables stay.
const ComprehensionExpr* split_reductions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                                          std::vector<Binding>& bindings);

}  // namespace quern
