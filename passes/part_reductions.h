#pragma once

#include "passes/pass.h"

namespace quern {

/// Makes a long reduction to few numbers one of partial results, which threads share, and a long sum to many
/// numbers one of sums that round less: of a tensor with the parts as its first axis, and of that. How many
/// parts there are follows from the extents alone, so that a sum has the same bits on any number of threads.
/// Reductions to few numbers go through what they read in the order of memory, whatever the order of their
/// index variables. Takes and gives A-normal form.
ExprPtr part_reductions(const PassContext& context, ExprPtr expr);

}  // namespace quern
