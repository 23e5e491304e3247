#pragma once

#include "ir/expr/expr.h"

namespace quern {

/// Whether evaluating the element of an index expression may stop, or read out of bounds, at a point of the
/// ranges in `facts`: an index not proved in bounds that has no check or no `else`, an index division by a
/// possible 0, a negative extent, a position in a possibly empty range. Conditions inside the expression do
/// not count as known.
bool may_fail(ExprPtr expr, const Facts& facts);

/// Whether the facts prove that a dim is not 0.
bool is_never_zero(Dim d, const Facts& facts);
/// Whether the facts prove that an index lies in an axis.
bool is_inside(Dim index, Dim extent, const Facts& facts);
/// Whether a dim divides by a possible 0.
bool may_divide_by_zero(Dim d, const Facts& facts);
/// Whether a scalar function divides an index by a possible 0.
bool may_divide_by_zero(const ScalarExpr& e, const Facts& facts);

}  // namespace quern
