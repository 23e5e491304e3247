#pragma once
// The static cost of the kernels of an expression, over the dims of their shapes.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/expr/expr.h"
#include "passes/pipeline.h"

namespace quern {

/// Null for costs that are not known before it runs.
struct KernelCost {
  Dim operations = dim_const(0);  ///< as operation_count counts them (jit/vm/operation_count.h)
  Dim bytes = dim_const(0);       ///< read and written, each tensor once

  KernelCost& operator+=(const KernelCost& more);
};
/// Of a primitive function.
KernelCost cost_of(const FnExpr& primitive);

/// The kernels that an optimised expression or the body of an optimised function calls.
struct KernelCalls {
  std::vector<const FnExpr*> kernels{};
  bool has_functions = false;  ///< whether it also calls functions
  /// Whether each kernel is called once, and nothing else is: none is in an arm or in a function value, and no function
  /// and no kernel in C++ is called.
  bool is_all = true;
};
KernelCalls kernel_calls(ExprPtr optimised);

/// "48 FLOP", "2.10 MFLOP"; a formula for what depends on dims: "2*n FLOP", "(n + 1) FLOP".
std::string flops_text(Dim operations);
/// "96 bytes", "1.5 KiB"; likewise.
std::string bytes_text(Dim bytes);

/// A call by itself, optimised: with variables for those of its operands that are neither atoms nor functions. `arena`
/// owns the call.
Optimised optimised_alone(ExprPtr call, std::span<const ExprPtr> operands, std::shared_ptr<const Arena> arena,
                          FunctionSource& functions);

}  // namespace quern
