#pragma once

#include "passes/pass.h"

namespace quern {

/// Moves out of tail-recursive local functions (passes/loops/tail_loop.h) what does not change in them, and computes
/// products that depend on nothing but how often the loop has run for all of its turns at once: of an LSTM, the
/// products of the inputs become one over the sequence, whose weights are read once. What is moved cannot fail. In
/// A-normal form.
ExprPtr hoist_from_loops(const PassContext& context, ExprPtr expr);

}  // namespace quern
