#pragma once
// Conditions of index expressions as facts about dims.

#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// Splits a bool expression that is a conjunction of conditions on dims into these, each >= 0 or == 0; false
/// if it is none.
bool dim_conditions(ExprPtr condition, std::vector<Dim>& nonnegative, std::vector<Dim>& zero);

}  // namespace quern
