#include "passes/inline_local.h"

#include <algorithm>
#include <unordered_map>

#include "passes/instantiation.h"

namespace quern {

namespace {

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
    auto at = fn ? instantiation(*fn, call->callee->type, types_of(call->args)) : std::nullopt;
    size_t size = at ? count_nodes(fn->body) : 0;
    if (!at || spent_ + size > kInlineBudget) return result;
    spent_ += size;
    return run(body_at(arena_, *fn, call->args, {{}, *at, &call->origin}));
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

  static std::vector<Type> types_of(std::span<const ExprPtr> args) {
    std::vector<Type> types;
    for (ExprPtr arg : args) types.push_back(arg->type);
    return types;
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
