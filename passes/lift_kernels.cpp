#include "passes/lift_kernels.h"

namespace quern {

namespace {

ExprPtr lift(Arena& arena, const ComprehensionExpr& comprehension) {
  std::vector<const Variable*> params;
  std::vector<ExprPtr> args;
  std::vector<Type> types;
  ExprSubstitution substitution;
  for (const Variable* variable : free_variables(&comprehension)) {
    const Variable* param = make_variable(arena, variable->name, variable->type);
    params.push_back(param);
    types.push_back(variable->type);
    args.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, variable->type, comprehension.origin}, variable));
    substitution.variables.emplace(
        variable, arena.make<VarExpr>(Expr{ExprKind::Var, variable->type, comprehension.origin}, param));
  }
  ExprPtr body = substitute(arena, &comprehension, substitution);
  ExprPtr fn =
      arena.make<FnExpr>(Expr{ExprKind::Fn, function_type(types, comprehension.type), comprehension.origin},
                         arena.copy(params), std::span<const Dim>(), body, true);
  return arena.make<CallExpr>(Expr{ExprKind::Call, comprehension.type, comprehension.origin}, fn,
                              arena.copy(args));
}

}  // namespace

ExprPtr lift_kernels(const PassContext& context, ExprPtr expr) {
  if (auto* comprehension = as<ComprehensionExpr>(expr)) return lift(context.arena, *comprehension);
  return map_children(context.arena, expr, [&](ExprPtr child) { return lift_kernels(context, child); });
}

}  // namespace quern
