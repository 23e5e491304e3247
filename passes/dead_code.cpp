#include "passes/dead_code.h"

#include <unordered_set>

#include "ir/expr/effects.h"

namespace quern {

namespace {

/// Processes the code after a binding before the binding itself, so that its remaining uses are known.
class Cleaner {
 public:
  Cleaner(Arena& arena, EffectAnalysis& effects) : arena_(arena), effects_(effects) {}

  ExprPtr clean(ExprPtr expr) {
    if (auto* var = as<VarExpr>(expr)) used_.insert(var->variable);
    auto* block = as<BlockExpr>(expr);
    if (!block) return map_children(arena_, expr, [&](ExprPtr child) { return clean(child); });
    ExprPtr result = clean(block->result);
    std::vector<Binding> kept;
    for (auto it = block->bindings.rbegin(); it != block->bindings.rend(); ++it) {
      const bool needed = it->variable && used_.contains(it->variable);
      if (needed || !effects_.of(it->value).removable()) kept.push_back({it->variable, clean(it->value)});
    }
    return block_of(arena_, {kept.rbegin(), kept.rend()}, result, expr->origin);
  }

 private:
  Arena& arena_;
  EffectAnalysis& effects_;
  std::unordered_set<const Variable*> used_;
};

}  // namespace

ExprPtr dead_code(const PassContext& context, ExprPtr expr) {
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Cleaner(context.arena, effects).clean(expr);
}

}  // namespace quern
