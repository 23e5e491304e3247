#include "passes/value_key.h"

#include <fmt/format.h>

#include <unordered_set>

#include "ir/expr/canonical_text.h"
#include "passes/pass.h"

namespace quern {

namespace {

/// Whether a kernel may compute it of its variables.
bool is_of_elements(ExprPtr expr) {
  bool all = expr->kind == ExprKind::If || facts(expr->kind).level != KindFacts::Level::Graph;
  if (expr->kind == ExprKind::Var) all = expr->type->is_tensor();
  if (expr->kind == ExprKind::Const) all = is_atom(expr);
  for_each_child(expr, [&](ExprPtr child) { all = all && is_of_elements(child); });
  return all;
}

void collect_index_variables(ExprPtr expr, std::unordered_set<Dim>& found) {
  visit(expr, [&](const auto& node) {
    if constexpr (requires { node.vars; }) found.insert(node.vars.begin(), node.vars.end());
  });
  for_each_child(expr, [&](ExprPtr child) { collect_index_variables(child, found); });
}

}  // namespace

std::optional<ValueKey> value_key(Arena& arena, ExprPtr expr) {
  auto* comprehension = as<ComprehensionExpr>(expr);
  if (!comprehension || comprehension->schedule || !is_of_elements(comprehension->body)) return std::nullopt;
  ValueKey key{{}, free_variables(expr)};
  CanonicalText text = canonical_text(*function_literal(arena, key.operands, {}, expr, expr->origin));
  std::unordered_set<Dim> bound;
  collect_index_variables(expr, bound);
  key.text = std::move(text.text);
  for (Dim dim : text.variables)
    key.text += bound.contains(dim) ? "_ " : fmt::format("{} ", static_cast<const void*>(dim));
  return key;
}

}  // namespace quern
