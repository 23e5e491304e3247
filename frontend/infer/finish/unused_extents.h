#pragma once

#include "ir/base/arena.h"
#include "ir/expr/expr.h"

namespace quern {

/// The block without the computed extents that nothing in it mentions: the dims of `%x[%k:%k + 0]` do not depend on
/// `%k`. Its result if no binding is left.
ExprPtr without_unused_extents(Arena& arena, const BlockExpr& block);

}  // namespace quern
