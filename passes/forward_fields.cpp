#include "passes/forward_fields.h"

#include <unordered_map>

namespace quern {

namespace {

class Forwarder {
 public:
  explicit Forwarder(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto inside = [this](ExprPtr child) { return run(child); };
    if (auto* var = as<VarExpr>(expr)) {
      const auto other = names_.find(var->variable);
      return other == names_.end() ? expr : read_of(arena_, other->second, expr->origin);
    }
    if (auto* block = as<BlockExpr>(expr))
      return map_block(arena_, *block, inside, [this](const Variable* variable, ExprPtr value) {
        if (auto* tuple = as<TupleExpr>(value)) tuples_.emplace(variable, tuple);
        auto* other = as<VarExpr>(value);
        if (other && variable && other->variable->type == variable->type)
          names_.emplace(variable, other->variable);
      });
    ExprPtr result = map_children(arena_, expr, inside);
    auto* field = as<FieldExpr>(result);
    auto* var = field ? as<VarExpr>(field->tuple) : nullptr;
    auto known = var ? tuples_.find(var->variable) : tuples_.end();
    if (known == tuples_.end()) return result;
    ExprPtr value = known->second->fields[field->index];
    return value->type == result->type ? value : result;
  }

 private:
  Arena& arena_;
  std::unordered_map<const Variable*, const TupleExpr*> tuples_;
  std::unordered_map<const Variable*, const Variable*> names_;  ///< further names of a variable
};

}  // namespace

ExprPtr forward_fields(const PassContext& context, ExprPtr expr) {
  return Forwarder(context.arena).run(expr);
}

}  // namespace quern
