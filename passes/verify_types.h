#pragma once
// The verifier's checks of one node.

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// How a node disagrees with its children, or "". Dims over `checked` match any others: a check may have
/// found them equal.
std::string misfit(ExprPtr expr, const std::unordered_set<Dim>& checked);

/// The dim variables of a type that must be in scope at its node: a function type may have dims of its own.
std::vector<Dim> scoped_dims(Type type);

}  // namespace quern
