#pragma once
// Index expressions with one axis more.

#include <unordered_map>

#include "passes/scalar_builder.h"

namespace quern {

/// Variables that have a value for each row, and the variables that hold these rows.
using RowVariables = std::unordered_map<const Variable*, const Variable*>;

/// The index expression for each of `count` rows, as a new first axis.
ExprPtr batched_element(const ScalarBuilder& build, const ComprehensionExpr& e, const RowVariables& rows,
                        Dim count);

}  // namespace quern
