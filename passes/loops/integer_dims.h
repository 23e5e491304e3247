#pragma once
// Integers of programs as dims.

#include <optional>

#include "ir/expr/expr.h"

namespace quern {

/// The dim that an integer of rank 0, or its element, equals: a constant, a dim, sums, differences, products, minima
/// and maxima of them, and casts between integers, whose values are taken to fit.
std::optional<Dim> integer_dim(ExprPtr expr);

}  // namespace quern
