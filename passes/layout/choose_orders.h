#pragma once
// The order of axes in memory of each intermediate tensor, chosen for the whole program (ALT, section 5, with
// `reorder` as the only primitive).

#include "ir/expr/effects.h"
#include "passes/layout/lane_cost.h"

namespace quern {

/// Orders with a low sum of the kernels' cycles; tensors that are not in the result keep their order. Only
/// tensors that index expressions make, and only index expressions read, have a choice: arguments and results
/// are stored as the program says. Code that may fail keeps the order in which it fails.
///
/// A local search: a move brings one axis of a tensor to the innermost place, alone or with the axes of other
/// tensors that run along it (through elementwise code, pools, residual sums), and is kept where it pays.
AxisOrders choose_orders(ExprPtr expr, EffectAnalysis& effects);

}  // namespace quern
