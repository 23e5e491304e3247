#include "passes/forward_views.h"

#include <unordered_map>

namespace quern {

namespace {

class ViewForwarder {
 public:
  explicit ViewForwarder(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto inside = [this](ExprPtr child) { return run(child); };
    if (auto* block = as<BlockExpr>(expr))
      return map_block(arena_, *block, inside, [this](const Variable* variable, ExprPtr value) {
        if (auto* view = as<ViewExpr>(value)) views_.emplace(variable, view);
      });
    ExprPtr result = map_children(arena_, expr, inside);
    auto* view = as<ViewExpr>(result);
    auto* var = view ? as<VarExpr>(view->tensor) : nullptr;
    auto known = var ? views_.find(var->variable) : views_.end();
    if (known == views_.end()) return result;
    ExprPtr first = known->second->tensor;
    return first->type == view->type ? first : arena_.make<ViewExpr>(Expr{*view}, first);
  }

 private:
  Arena& arena_;
  std::unordered_map<const Variable*, const ViewExpr*> views_;
};

}  // namespace

ExprPtr forward_views(const PassContext& context, ExprPtr expr) {
  return ViewForwarder(context.arena).run(expr);
}

}  // namespace quern
