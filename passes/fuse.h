#pragma once

#include "passes/pass.h"

namespace quern {

/// Puts producers into their consumers: an injective producer into the only index expression that reads it,
/// where each of its elements is then still computed once; a reduction into the elementwise expression that
/// alone reads it, index by index (an epilogue). Takes and gives A-normal form; producers that are not used
/// any more are left to dead_code.
ExprPtr fuse(const PassContext& context, ExprPtr expr);

}  // namespace quern
