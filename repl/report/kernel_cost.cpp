#include "repl/report/kernel_cost.h"

#include "jit/vm/operation_count.h"
#include "repl/report/command_text.h"

namespace quern {

namespace {

/// Bytes of tensors of a type; null for what is no tensor.
Dim bytes_of(Type type) {
  if (!type->is_tensor()) return nullptr;
  Dim bytes = dim_const(static_cast<int64_t>(type->dtype.bytes()));
  for (Dim dim : type->dims) bytes = dim_mul(bytes, dim);
  return bytes;
}

Dim sum(Dim a, Dim b) { return a && b ? dim_add(a, b) : nullptr; }

void collect(ExprPtr expr, KernelCalls& calls) {
  auto* fn = as<FnExpr>(expr);
  if (fn && fn->primitive) return calls.kernels.push_back(fn);
  calls.has_functions = calls.has_functions || expr->kind == ExprKind::Global;
  for_each_child(expr, [&](ExprPtr child) { collect(child, calls); });
}

}  // namespace

KernelCost& KernelCost::operator+=(const KernelCost& more) {
  operations = sum(operations, more.operations);
  bytes = sum(bytes, more.bytes);
  return *this;
}

KernelCost cost_of(const FnExpr& primitive) {
  KernelCost cost{operation_count(primitive), bytes_of(primitive.body->type)};
  for (const Variable* param : primitive.params) cost.bytes = sum(cost.bytes, bytes_of(param->type));
  return cost;
}

KernelCalls kernel_calls(ExprPtr optimised) {
  KernelCalls calls;
  collect(optimised, calls);
  return calls;
}

std::string dim_text(Dim dim) {
  if (!dim) return "-";
  const auto number = as_const(dim);
  return number ? amount_text(static_cast<double>(*number)) : to_string(dim);
}

}  // namespace quern
