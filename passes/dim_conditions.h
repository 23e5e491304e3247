#pragma once
// Conditions of index expressions as facts about dims.

#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// The conditions on dims that an expression of bool is the conjunction of, each >= 0 or == 0; false where it
/// is none.
bool dim_conditions(ExprPtr condition, std::vector<Dim>& nonnegative, std::vector<Dim>& zero);

}  // namespace quern
