#include "ide/kernel_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ir/base/units.h"
#include "jit/vm/operation_count.h"

namespace quern {

namespace {

/// Bytes of a tensor of a type; null for other types.
Dim bytes_of(Type type) {
  if (!type->is_tensor()) return nullptr;
  Dim bytes = dim_const(static_cast<int64_t>(type->dtype.bytes()));
  for (Dim dim : type->dims) bytes = dim_mul(bytes, dim);
  return bytes;
}

Dim sum(Dim a, Dim b) { return a && b ? dim_add(a, b) : nullptr; }

bool is_called_once(ExprKind kind) {
  return kind != ExprKind::If && kind != ExprKind::Match && kind != ExprKind::Fn &&
         kind != ExprKind::Extern && kind != ExprKind::Global;
}

void collect(ExprPtr expr, KernelCalls& calls) {
  auto* fn = as<FnExpr>(expr);
  if (fn && fn->primitive) return calls.kernels.push_back(fn);
  auto* call = as<CallExpr>(expr);
  const bool is_of_value = call && call->callee->kind == ExprKind::Var;
  calls.is_all = calls.is_all && is_called_once(expr->kind) && !is_of_value;
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
  auto* function = as<FnExpr>(optimised);
  collect(function && !function->primitive ? function->body : optimised, calls);
  return calls;
}

namespace {

std::string formula_text(Dim dim, std::string_view unit) {
  return dim->kind == DimKind::Sum ? fmt::format("({}) {}", to_string(dim), unit)
                                   : fmt::format("{} {}", to_string(dim), unit);
}

}  // namespace

std::string flops_text(Dim operations) {
  const auto number = as_const(operations);
  if (!number) return formula_text(operations, "FLOP");
  return amount_text(static_cast<double>(*number)) + (*number < 1000 ? " FLOP" : "FLOP");
}

std::string bytes_text(Dim bytes) {
  const auto number = as_const(bytes);
  return number ? bytes_text(static_cast<size_t>(*number)) : formula_text(bytes, "bytes");
}

Optimised optimised_alone(ExprPtr call, std::span<const ExprPtr> operands, std::shared_ptr<const Arena> arena,
                          FunctionSource& functions) {
  auto own = std::make_shared<Arena>();
  own->keep(std::move(arena));
  const ExprPtr alone = map_children(*own, call, [&](ExprPtr child) -> ExprPtr {
    const bool is_operand = std::ranges::find(operands, child) != operands.end();
    const bool is_atom = child->kind == ExprKind::Const || child->kind == ExprKind::Var;
    if (!is_operand || is_atom || child->type->kind == TypeKind::Function) return child;
    return own->make<VarExpr>(Expr{ExprKind::Var, child->type, child->origin},
                              make_variable(*own, "operand", child->type));
  });
  return optimise({"", Scheme{{}, {}, call->type}, alone, own}, functions);
}

}  // namespace quern
