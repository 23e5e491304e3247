#include "passes/cse.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "passes/fusion_class.h"
#include "passes/value_key.h"

namespace quern {

namespace {

/// Value numbering: variables with the same value have the same representative.
class Numbering {
 public:
  explicit Numbering(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* var = as<VarExpr>(expr)) {
      const auto shared = shared_.find(var->variable);
      return shared == shared_.end() ? expr : read_of(arena_, shared->second, expr->origin);
    }
    if (auto* block = as<BlockExpr>(expr)) return of_block(*block);
    if (!as<FnExpr>(expr)) return map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    auto outer = std::exchange(known_, {});
    ExprPtr function = map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    known_ = std::move(outer);
    return function;
  }

 private:
  ExprPtr of_block(const BlockExpr& block) {
    std::vector<Binding> kept;
    std::vector<std::string> own;
    bool changed = false;
    for (const Binding& b : block.bindings) {
      ExprPtr value = run(b.value);
      changed |= value != b.value;
      std::string key = b.variable ? key_of(value) : "";
      if (!key.empty()) {
        const auto [known, is_new] = known_.try_emplace(std::move(key), b.variable);
        if (is_new) {
          own.push_back(known->first);
        } else {
          representative_.emplace(b.variable, known->second);
          if (reduces(value)) {
            shared_.emplace(b.variable, known->second);
            changed = true;
            continue;
          }
        }
      }
      kept.push_back({b.variable, value});
    }
    ExprPtr result = run(block.result);
    for (const std::string& key : own) known_.erase(key);
    if (!changed && result == block.result) return &block;
    return block_of(arena_, kept, result, block.origin);
  }

  // Equal for expressions of the same value; "" for one that is not looked for.
  std::string key_of(ExprPtr expr) const {
    std::optional<ValueKey> key = value_key(arena_, expr);
    if (!key) return "";
    for (const Variable* operand : key->operands) {
      const auto first = representative_.find(operand);
      key->text += fmt::format(
          "{} ", static_cast<const void*>(first == representative_.end() ? operand : first->second));
    }
    return std::move(key->text);
  }

  Arena& arena_;
  std::unordered_map<std::string, const Variable*> known_;  ///< in scope, by their values' keys
  std::unordered_map<const Variable*, const Variable*> representative_;
  std::unordered_map<const Variable*, const Variable*>
      shared_;  ///< what is read instead of a dropped variable
};

}  // namespace

ExprPtr cse(const PassContext& context, ExprPtr expr) { return Numbering(context.arena).run(expr); }

}  // namespace quern
