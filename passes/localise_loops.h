#pragma once

#include "passes/pass.h"

namespace quern {

/// Puts definitions that call themselves as the last thing they do into the functions that call them, as local
/// functions: there, what they are called with is known, such as where a counter begins, and nothing keeps what does
/// not change inside (hoist_from_loops). Statements call them as they are. After `inline`.
ExprPtr localise_loops(const PassContext& context, ExprPtr expr);

}  // namespace quern
