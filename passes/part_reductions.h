#pragma once

#include "passes/pass.h"

namespace quern {

/// Splits a long reduction to few numbers into partial results, which threads share, and a long sum to many
/// numbers into partial sums, which round less: first into a tensor with the parts as its first axis, then
/// over that axis. The number of parts depends only on the extents, so a sum has the same bits on any number
/// of threads. Reductions, except products of two tensors, traverse their largest operand in memory order,
/// whatever the order of their index variables. From and to A-normal form.
ExprPtr part_reductions(const PassContext& context, ExprPtr expr);

}  // namespace quern
