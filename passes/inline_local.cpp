#include "passes/inline_local.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace quern {

namespace {

// Binds a function's dims from its arguments' types.
void bind_dims(Type param, Type argument, std::span<const Dim> dim_vars, DimMap& dims) {
  for (size_t k = 0; k < param->dims.size() && k < argument->dims.size(); ++k)
    if (std::ranges::count(dim_vars, param->dims[k])) dims.emplace(param->dims[k], argument->dims[k]);
  for (size_t k = 0; k < param->args.size() && k < argument->args.size(); ++k)
    bind_dims(param->args[k], argument->args[k], dim_vars, dims);
}

// Binds a polymorphic function's types from the type of its use.
void bind_types(Type general, Type used, Substitution& at) {
  if (general->kind == TypeKind::Var) at.types.emplace(general, used);
  if (general->dtype.is_var() && used->is_tensor()) at.dtypes.emplace(general->dtype, used->dtype);
  for (size_t k = 0; k < general->args.size() && k < used->args.size(); ++k)
    bind_types(general->args[k], used->args[k], at);
}

class LocalInliner {
 public:
  explicit LocalInliner(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto inside = [this](ExprPtr child) { return run(child); };
    auto* block = as<BlockExpr>(expr);
    ExprPtr result = block ? map_block(arena_, *block, inside,
                                       [this](const Variable* v, ExprPtr value) { bind(v, value); })
                           : map_children(arena_, expr, inside);
    auto* call = as<CallExpr>(result);
    const FnExpr* fn = call ? function_of(call->callee) : nullptr;
    auto at = fn ? at_call(*call, *fn) : std::nullopt;
    size_t size = at ? count_nodes(fn->body) : 0;
    if (!at || spent_ + size > kInlineBudget) return result;
    spent_ += size;
    return run(body_at(arena_, *fn, call->args, *at));
  }

 private:
  void bind(const Variable* variable, ExprPtr value) {
    auto* fn = as<FnExpr>(value);
    if (fn && !std::ranges::count(free_variables(fn), variable)) bound_.emplace(variable, fn);
  }

  const FnExpr* function_of(ExprPtr callee) const {
    if (auto* fn = as<FnExpr>(callee)) return fn;
    auto* var = as<VarExpr>(callee);
    auto known = var ? bound_.find(var->variable) : bound_.end();
    return known == bound_.end() ? nullptr : known->second;
  }

  // Nothing if the arguments do not determine one of the function's dims.
  static std::optional<ExprSubstitution> at_call(const CallExpr& call, const FnExpr& fn) {
    ExprSubstitution at;
    at.call = &call.origin;
    bind_types(fn.type, call.callee->type, at.types);
    for (size_t i = 0; i < fn.params.size(); ++i)
      bind_dims(fn.params[i]->type, call.args[i]->type, fn.dim_vars, at.types.dims);
    for (Dim d : fn.dim_vars)
      if (!at.types.dims.contains(d)) return std::nullopt;
    return at;
  }

  Arena& arena_;
  std::unordered_map<const Variable*, const FnExpr*> bound_;
  size_t spent_ = 0;
};

}  // namespace

ExprPtr inline_local(const PassContext& context, ExprPtr expr) {
  return LocalInliner(context.arena).run(expr);
}

}  // namespace quern
