#pragma once
// The order of axes in memory of each intermediate tensor, chosen for the whole program (ALT, section 5, with
// `reorder` as the only primitive).

#include "ir/expr/effects.h"
#include "passes/layout/lane_cost.h"

namespace quern {

/// The choice for a program.
struct Orders {
  AxisOrders chosen;
  /// Those of the chosen tensors that are also needed in the order of their shape, so that a copy is made: something
  /// else than an index expression reads them.
  std::unordered_set<const Variable*> copied;
};

/// Orders with a low sum of the kernels' cycles; tensors that are not in the result keep their order. Tensors that
/// index expressions make have a choice. Arguments and results are stored as the program says. Code that may fail
/// keeps the order in which it fails.
///
/// A local search: a move brings one axis of a tensor to the innermost place, alone or with the axes of other
/// tensors that run along it (through elementwise code, pools, residual sums), and is kept where it pays.
Orders choose_orders(ExprPtr expr, EffectAnalysis& effects);

}  // namespace quern
