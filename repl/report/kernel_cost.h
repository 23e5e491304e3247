#pragma once
// The static cost of the kernels of an expression, over the dims of their shapes.

#include <string>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/expr/expr.h"

namespace quern {

/// Null if the cost is unknown before the run.
struct KernelCost {
  Dim operations = dim_const(0);  ///< as operation_count has them (jit/vm/operation_count.h)
  Dim bytes = dim_const(0);       ///< of what is read and written, each tensor once

  KernelCost& operator+=(const KernelCost& more);
};
/// Of a primitive function.
KernelCost cost_of(const FnExpr& primitive);

/// The kernels that an optimised expression calls, and whether it calls functions beside them.
struct KernelCalls {
  std::vector<const FnExpr*> kernels{};
  bool has_functions = false;
};
KernelCalls kernel_calls(ExprPtr optimised);

/// "1.23 M", a formula, or "-" for null.
std::string dim_text(Dim dim);

}  // namespace quern
