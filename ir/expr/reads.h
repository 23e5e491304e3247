#pragma once
// What an index expression reads.

#include "ir/expr/expr.h"

namespace quern {

/// Whether the variable is free in the expression.
bool mentions(ExprPtr expr, const Variable* variable);

/// Whether it reads the element of `tensor` at these index variables: that at the place of the result's element.
bool is_read_at(const ReadExpr& read, const Variable* tensor, std::span<const Dim> vars);

}  // namespace quern
