#include "passes/inline_local.h"

#include <algorithm>
#include <unordered_map>

namespace quern {

namespace {

constexpr size_t kNodeBudget = 50'000;

size_t count_nodes(ExprPtr expr) {
  size_t count = 1;
  for_each_child(expr, [&](ExprPtr child) { count += count_nodes(child); });
  return count;
}

// The dims that a function binds from its arguments, as the arguments' types say them.
void bind_dims(Type param, Type argument, std::span<const Dim> dim_vars, DimMap& dims) {
  for (size_t k = 0; k < param->dims.size() && k < argument->dims.size(); ++k)
    if (std::ranges::count(dim_vars, param->dims[k])) dims.emplace(param->dims[k], argument->dims[k]);
  for (size_t k = 0; k < param->args.size() && k < argument->args.size(); ++k)
    bind_dims(param->args[k], argument->args[k], dim_vars, dims);
}

class Inliner {
 public:
  explicit Inliner(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    ExprPtr result =
        block ? of_block(*block) : map_children(arena_, expr, [this](ExprPtr e) { return run(e); });
    auto* call = as<CallExpr>(result);
    const FnExpr* fn = call ? function_of(call->callee) : nullptr;
    if (!fn) return result;
    size_t size = count_nodes(fn->body);
    if (spent_ + size > kNodeBudget) return result;
    ExprPtr body = body_at(*call, *fn);
    if (!body) return result;
    spent_ += size;
    return run(body);
  }

 private:
  ExprPtr of_block(const BlockExpr& block) {
    std::vector<Binding> bindings;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      ExprPtr value = run(b.value);
      changed = changed || value != b.value;
      auto* fn = as<FnExpr>(value);
      if (b.variable && fn && !std::ranges::count(free_variables(fn), b.variable))
        bound_.emplace(b.variable, fn);
      bindings.push_back({b.variable, value});
    }
    ExprPtr result = run(block.result);
    if (!changed && result == block.result) return &block;
    Expr head = block;
    return arena_.make<BlockExpr>(head, arena_.copy(bindings), result);
  }

  const FnExpr* function_of(ExprPtr callee) const {
    if (auto* fn = as<FnExpr>(callee)) return fn;
    auto* var = as<VarExpr>(callee);
    auto known = var ? bound_.find(var->variable) : bound_.end();
    return known == bound_.end() ? nullptr : known->second;
  }

  // { let p = arg; …; body }; null where a dim of the function is not the argument's to say.
  ExprPtr body_at(const CallExpr& call, const FnExpr& fn) {
    ExprSubstitution substitution;
    substitution.call = &call.origin;
    std::vector<Binding> bindings;
    for (size_t i = 0; i < fn.params.size(); ++i) {
      ExprPtr arg = call.args[i];
      bind_dims(fn.params[i]->type, arg->type, fn.dim_vars, substitution.types.dims);
      if (!is_atom(arg)) {
        const Variable* variable = make_variable(arena_, fn.params[i]->name, arg->type);
        bindings.push_back({variable, arg});
        arg = arena_.make<VarExpr>(Expr{ExprKind::Var, arg->type, arg->origin}, variable);
      }
      substitution.variables.emplace(fn.params[i], arg);
    }
    for (Dim d : fn.dim_vars)
      if (!substitution.types.dims.contains(d)) return nullptr;
    ExprPtr body = substitute(arena_, fn.body, substitution);
    if (bindings.empty()) return body;
    return arena_.make<BlockExpr>(Expr{ExprKind::Block, body->type, call.origin}, arena_.copy(bindings),
                                  body);
  }

  Arena& arena_;
  std::unordered_map<const Variable*, const FnExpr*> bound_;
  size_t spent_ = 0;
};

}  // namespace

ExprPtr inline_local(const PassContext& context, ExprPtr expr) { return Inliner(context.arena).run(expr); }

}  // namespace quern
