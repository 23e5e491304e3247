#include "passes/dead_code.h"

#include <unordered_set>

namespace quern {

bool may_have_effect(ExprPtr expr) {
  switch (expr->kind) {
    case ExprKind::Intrinsic:
    case ExprKind::RefWrite:
    case ExprKind::OpCall:  // an operator may check what it reads at run time
    case ExprKind::View: return true;
    case ExprKind::Call: {
      auto* fn = as<FnExpr>(static_cast<const CallExpr*>(expr)->callee);
      // A call of anything but a kernel may print, fail, or not end.
      return !fn || !fn->primitive || may_have_effect(fn->body);
    }
    case ExprKind::Match:
      if (static_cast<const MatchExpr*>(expr)->partial) return true;
      break;
    case ExprKind::Fn: return false;  // making a function runs nothing
    case ExprKind::Read: {
      auto* read = static_cast<const ReadExpr*>(expr);
      bool checked = false;
      for (bool c : read->checked) checked |= c;
      if (checked && !read->otherwise) return true;
      break;
    }
    default: break;
  }
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || may_have_effect(child); });
  return found;
}

namespace {

using Used = std::unordered_set<const Variable*>;

void mark(ExprPtr expr, Used& used) {
  if (auto* var = as<VarExpr>(expr)) used.insert(var->variable);
  for_each_child(expr, [&](ExprPtr child) { mark(child, used); });
}

ExprPtr clean(Arena& arena, ExprPtr expr) {
  auto* block = as<BlockExpr>(expr);
  if (!block) return map_children(arena, expr, [&](ExprPtr child) { return clean(arena, child); });
  ExprPtr result = clean(arena, block->result);
  Used used;
  mark(result, used);
  // From the last binding to the first: what only dropped bindings used is dropped too.
  std::vector<Binding> kept;
  for (auto it = block->bindings.rbegin(); it != block->bindings.rend(); ++it) {
    bool needed = it->variable && used.contains(it->variable);
    if (!needed && !may_have_effect(it->value)) continue;
    ExprPtr value = clean(arena, it->value);
    mark(value, used);
    kept.push_back({it->variable, value});
  }
  if (kept.empty()) return result;
  std::vector<Binding> bindings(kept.rbegin(), kept.rend());
  return arena.make<BlockExpr>(Expr{ExprKind::Block, result->type, expr->origin}, arena.copy(bindings),
                               result);
}

}  // namespace

ExprPtr dead_code(const PassContext& context, ExprPtr expr) { return clean(context.arena, expr); }

}  // namespace quern
