#include "passes/forward_fields.h"

#include <unordered_map>

namespace quern {

namespace {

class Forwarder {
 public:
  explicit Forwarder(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto inside = [this](ExprPtr child) { return run(child); };
    if (auto* block = as<BlockExpr>(expr))
      return map_block(arena_, *block, inside, [this](const Variable* variable, ExprPtr value) {
        if (auto* tuple = as<TupleExpr>(value)) tuples_.emplace(variable, tuple);
        auto* other = as<VarExpr>(value);  // another name of a tuple
        if (auto known = other ? tuples_.find(other->variable) : tuples_.end(); known != tuples_.end())
          tuples_.emplace(variable, known->second);
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
};

}  // namespace

ExprPtr forward_fields(const PassContext& context, ExprPtr expr) {
  return Forwarder(context.arena).run(expr);
}

}  // namespace quern
