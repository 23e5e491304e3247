#include "passes/dead_code.h"

#include <unordered_set>

#include "ir/effects.h"

namespace quern {

namespace {

using Used = std::unordered_set<const Variable*>;

void mark(ExprPtr expr, Used& used) {
  if (auto* var = as<VarExpr>(expr)) used.insert(var->variable);
  for_each_child(expr, [&](ExprPtr child) { mark(child, used); });
}

class Cleaner {
 public:
  Cleaner(Arena& arena, EffectAnalysis& effects) : arena_(arena), effects_(effects) {}

  ExprPtr clean(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block) return map_children(arena_, expr, [&](ExprPtr child) { return clean(child); });
    ExprPtr result = clean(block->result);
    Used used;
    mark(result, used);
    // From the last binding to the first: what only dropped bindings used is dropped too.
    std::vector<Binding> kept;
    for (auto it = block->bindings.rbegin(); it != block->bindings.rend(); ++it) {
      bool needed = it->variable && used.contains(it->variable);
      if (!needed && effects_.of(it->value).removable()) continue;
      ExprPtr value = clean(it->value);
      mark(value, used);
      kept.push_back({it->variable, value});
    }
    if (kept.empty()) return result;
    std::vector<Binding> bindings(kept.rbegin(), kept.rend());
    return arena_.make<BlockExpr>(Expr{ExprKind::Block, result->type, expr->origin}, arena_.copy(bindings),
                                  result);
  }

 private:
  Arena& arena_;
  EffectAnalysis& effects_;
};

}  // namespace

ExprPtr dead_code(const PassContext& context, ExprPtr expr) {
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Cleaner(context.arena, effects).clean(expr);
}

}  // namespace quern
