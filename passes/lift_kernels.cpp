#include "passes/lift_kernels.h"

namespace quern {

ExprPtr make_kernel(Arena& arena, ExprPtr body) {
  std::vector<const Variable*> params;
  std::vector<ExprPtr> args;
  std::vector<Type> types;
  ExprSubstitution substitution;
  for (const Variable* variable : free_variables(body)) {
    const Variable* param = make_variable(arena, variable->name, variable->type);
    params.push_back(param);
    types.push_back(variable->type);
    args.push_back(read_of(arena, variable, body->origin));
    substitution.variables.emplace(variable, read_of(arena, param, body->origin));
  }
  ExprPtr closed = substitute(arena, body, substitution);
  ExprPtr fn = arena.make<FnExpr>(Expr{ExprKind::Fn, function_type(types, body->type), body->origin},
                                  arena.copy(params), std::span<const Dim>(), closed, true);
  return arena.make<CallExpr>(Expr{ExprKind::Call, body->type, body->origin}, fn, arena.copy(args));
}

ExprPtr lift_kernels(const PassContext& context, ExprPtr expr) {
  if (expr->kind == ExprKind::Comprehension) return make_kernel(context.arena, expr);
  if (auto* fn = as<FnExpr>(expr); fn && fn->primitive) return expr;
  return map_children(context.arena, expr, [&](ExprPtr child) { return lift_kernels(context, child); });
}

}  // namespace quern
