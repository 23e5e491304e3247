#include "passes/lift_kernels.h"

#include <utility>

#include "passes/fusion_class.h"
#include "passes/loops/tail_loop.h"

namespace quern {

namespace {

using Variables = std::unordered_set<const Variable*>;

bool is_contraction_kernel(ExprPtr expr) {
  auto* kernel = as<ComprehensionExpr>(expr);
  return kernel && fusion_class(*kernel) == FusionClass::Contraction;
}

/// Counts the contractions that read each variable.
void count_contractions(ExprPtr expr, Uses& uses) {
  if (expr->kind != ExprKind::Comprehension)
    return for_each_child(expr, [&](ExprPtr child) { count_contractions(child, uses); });
  if (!is_contraction_kernel(expr)) return;
  for (const Variable* variable : free_variables(expr)) ++uses[variable];
}

class KernelLifter {
 public:
  KernelLifter(Arena& arena, ExprPtr whole) : arena_(arena) {
    count_uses(whole, uses_);
    count_contractions(whole, contractions_);
  }

  ExprPtr run(ExprPtr expr) {
    if (expr->kind == ExprKind::Comprehension)
      return make_kernel(arena_, expr, is_contraction_kernel(expr) ? fresh_in(expr) : Variables());
    if (auto* fn = as<FnExpr>(expr)) return fn->primitive ? expr : function(*fn, {});
    if (auto* b = as<BlockExpr>(expr)) return block(*b);
    return map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
  }

 private:
  /// What is computed outside serves all calls of the function.
  ExprPtr function(const FnExpr& fn, Variables changing) {
    std::swap(fresh_, changing);
    ExprPtr lifted = map_children(arena_, &fn, [&](ExprPtr child) { return run(child); });
    std::swap(fresh_, changing);
    return lifted;
  }

  ExprPtr block(const BlockExpr& block) {
    std::vector<Binding> bindings;
    for (size_t k = 0; k < block.bindings.size(); ++k) {
      const auto& [variable, value] = block.bindings[k];
      const std::optional<TailLoop> loop = tail_loop(block, k, uses_);
      bindings.push_back({variable, loop ? function(*loop->function, changing_params(*loop)) : run(value)});
      if (is_fresh(value)) fresh_.insert(variable);
    }
    return block_of(arena_, bindings, run(block.result), block.origin);
  }

  bool is_fresh(ExprPtr value) const {
    if (auto* var = as<VarExpr>(value)) return fresh_.contains(var->variable);
    if (auto* field = as<FieldExpr>(value)) return is_fresh(field->tuple);
    if (auto* view = as<ViewExpr>(value)) return is_fresh(view->tensor);
    return value->kind != ExprKind::Const && value->kind != ExprKind::Fn;
  }

  static Variables changing_params(const TailLoop& loop) {
    const Variables same = invariant_params(loop);
    Variables changing;
    for (const Variable* param : loop.function->params)
      if (!same.contains(param)) changing.insert(param);
    return changing;
  }

  /// The parameters of a contraction whose forms no other one is likely to share: a weight is read once forward and once,
  /// the other way, backward.
  Variables fresh_in(ExprPtr kernel) const {
    constexpr int kMost = 2;
    Variables found;
    for (const Variable* variable : free_variables(kernel)) {
      const auto readers = contractions_.find(variable);
      if (fresh_.contains(variable) && readers != contractions_.end() && readers->second <= kMost)
        found.insert(variable);
    }
    return found;
  }

  Arena& arena_;
  Uses uses_;          ///< of variables
  Uses contractions_;  ///< that read them
  Variables fresh_;    ///< in the function that is walked
};

}  // namespace

ExprPtr make_kernel(Arena& arena, ExprPtr body, const std::unordered_set<const Variable*>& fresh) {
  std::vector<const Variable*> params;
  std::vector<ExprPtr> args;
  std::vector<Type> types;
  ExprSubstitution substitution;
  for (const Variable* variable : free_variables(body)) {
    const Variable* param =
        make_variable(arena, variable->name, variable->type, false, fresh.contains(variable));
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
  return KernelLifter(context.arena, expr).run(expr);
}

}  // namespace quern
