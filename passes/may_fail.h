#pragma once

#include "ir/expr.h"

namespace quern {

/// Whether evaluating the element of an index expression may stop, or read outside of a tensor, at a point of
/// the ranges that `facts` knows: an index that is not proved inside and has no `else`, a division of indices
/// by what may be 0, a position in what may be empty. Conditions inside of the expression do not count as
/// known.
bool may_fail(ExprPtr expr, const Facts& facts);

}  // namespace quern
