#include "passes/forward_fields.h"

#include <unordered_map>

namespace quern {

namespace {

class Forwarder {
 public:
  explicit Forwarder(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr)) return of_block(*block);
    ExprPtr result = map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    auto* field = as<FieldExpr>(result);
    auto* var = field ? as<VarExpr>(field->tuple) : nullptr;
    auto known = var ? tuples_.find(var->variable) : tuples_.end();
    if (known == tuples_.end()) return result;
    ExprPtr inside = known->second->fields[field->index];
    return inside->type == result->type ? inside : result;
  }

 private:
  ExprPtr of_block(const BlockExpr& block) {
    std::vector<Binding> bindings;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      ExprPtr value = run(b.value);
      changed = changed || value != b.value;
      if (auto* tuple = as<TupleExpr>(value); tuple && b.variable) tuples_.emplace(b.variable, tuple);
      bindings.push_back({b.variable, value});
    }
    ExprPtr result = run(block.result);
    if (!changed && result == block.result) return &block;
    Expr head = block;
    return arena_.make<BlockExpr>(head, arena_.copy(bindings), result);
  }

  Arena& arena_;
  std::unordered_map<const Variable*, const TupleExpr*> tuples_;
};

}  // namespace

ExprPtr forward_fields(const PassContext& context, ExprPtr expr) {
  return Forwarder(context.arena).run(expr);
}

}  // namespace quern
