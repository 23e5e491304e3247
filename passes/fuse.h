#pragma once

#include "passes/pass.h"

namespace quern {

/// Fuses producers into their consumers: an injective producer into the only index expression that reads it,
/// if each of its elements is still computed once; a reduction into the only elementwise expression that
/// reads it, index by index (an epilogue). A cheap injective producer goes into all of several readers where that
/// moves less memory than to store it: data that a norm centres, whatever its backward pass reads of them. From and
/// to A-normal form; unused producers are left to dead_code.
ExprPtr fuse(const PassContext& context, ExprPtr expr);

}  // namespace quern
