#pragma once

#include "ir/expr/expr.h"

namespace quern {

/// Whether evaluating the element of an index expression may stop, or read outside of a tensor, at a point of
/// the ranges that `facts` knows: an index that is not proved inside and has no check or no `else`, a division of
/// indices by what may be 0, an extent below 0, a position in what may be empty. Conditions inside of the
/// expression do not count as known.
bool may_fail(ExprPtr expr, const Facts& facts);

/// Whether the facts prove that a dim is not 0.
bool is_never_zero(Dim d, const Facts& facts);
/// Whether the facts prove that an index lies in an axis.
bool is_inside(Dim index, Dim extent, const Facts& facts);
/// Whether a dim divides by what may be 0.
bool may_divide_by_zero(Dim d, const Facts& facts);
/// Whether a function of elements divides an index by what may be 0.
bool may_divide_by_zero(const ScalarExpr& e, const Facts& facts);

}  // namespace quern
