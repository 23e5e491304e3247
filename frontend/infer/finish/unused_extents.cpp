#include "frontend/infer/finish/unused_extents.h"

#include <algorithm>
#include <vector>

#include "ir/expr/computed_extent.h"
#include "ir/expr/fields.h"

namespace quern {

namespace {

bool mentions(Dim dim, Dim var) {
  bool found = false;
  for_each_var(dim, [&](Dim v) { found = found || v == var; });
  return found;
}
bool mentions(Type type, Dim var) {
  bool found = false;
  for_each_dim_var(type, [&](Dim v) { found = found || v == var; });
  return found;
}

bool mentions(ExprPtr expr, Dim var) {
  if (!expr) return false;
  bool found = mentions(expr->type, var);
  const auto field = overloaded{[&](role::Dims, Dim dim) { found = found || mentions(dim, var); },
                                [&](role::Dims, std::span<const Dim> dims) {
                                  for (Dim dim : dims) found = found || mentions(dim, var);
                                },
                                [&](role::Types, std::span<const Type> types) {
                                  for (Type type : types) found = found || mentions(type, var);
                                },
                                [&](role::Conditions, std::span<const DimCondition> conditions) {
                                  for (const DimCondition& c : conditions)
                                    found = found || mentions(c.left, var) || mentions(c.right, var);
                                },
                                [](auto, const auto&) {}};
  visit(expr, [&](const auto& node) { for_each_field(field, node); });
  for_each_child(expr, [&](ExprPtr child) { found = found || mentions(child, var); });
  return found;
}

}  // namespace

ExprPtr without_unused_extents(Arena& arena, const BlockExpr& block) {
  std::vector<Binding> kept;
  for (size_t i = block.bindings.size(); i-- > 0;) {
    const Binding& binding = block.bindings[i];
    const Dim extent = computed_extent(binding);
    const bool is_used =
        !extent || mentions(block.result, extent) ||
        std::ranges::any_of(kept, [&](const Binding& b) { return mentions(b.value, extent); });
    if (is_used) kept.push_back(binding);
  }
  if (kept.size() == block.bindings.size()) return &block;
  if (kept.empty()) return block.result;
  std::ranges::reverse(kept);
  return arena.make<BlockExpr>(Expr{block}, arena.copy(kept), block.result);
}

}  // namespace quern
