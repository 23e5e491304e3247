#pragma once
// What the verifier asks of one node.

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// How a node does not fit its children, or "". Dims over `checked` are taken for any others: a check may
/// have found them equal.
std::string misfit(ExprPtr expr, const std::unordered_set<Dim>& checked);

/// The dim variables of a type that its node has to stand in the scope of: a function's type may be over dims
/// of its own.
std::vector<Dim> scoped_dims(Type type);

}  // namespace quern
