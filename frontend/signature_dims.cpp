#include "frontend/signature_dims.h"

#include <set>

namespace quern {

namespace {

// The names of an expression. Arithmetic alone is looked into: a name in a call may be anything.
bool names_in(SyntaxPtr expr, std::set<std::string_view>& names) {
  if (expr->is(SyntaxKind::Int)) return true;
  if (expr->is(SyntaxKind::Name)) {
    names.insert(expr->text);
    return true;
  }
  if (!expr->is(SyntaxKind::Binary) && !expr->is(SyntaxKind::Paren)) return false;
  for (SyntaxPtr operand : expr->children)
    if (!names_in(operand, names)) return false;
  return true;
}

}  // namespace

std::optional<LinearPattern> linear_pattern(SyntaxPtr expr, StaticEvaluator& evaluator,
                                            const StaticEnv& env) {
  std::set<std::string_view> names;
  bool arithmetic = expr->is(SyntaxKind::Binary) && expr->text != "/" && expr->text != "%";
  if (!arithmetic || !names_in(expr, names)) return std::nullopt;
  size_t known = std::erase_if(names, [&](std::string_view name) { return env.contains(name); });
  if (names.size() != 1) return std::nullopt;
  std::string_view name = *names.begin();
  Dim unknown = dim_var(name);
  StaticEnv with_unknown = env;
  with_unknown.insert_or_assign(std::string(name), StaticValue(unknown));
  auto value = evaluator.dim(expr, with_unknown);
  auto linear = value ? linear_in(*value, unknown) : std::nullopt;
  if (!linear) return std::nullopt;
  return LinearPattern{name, linear->coefficient, linear->rest, known ? to_string(*value) : ""};
}

}  // namespace quern
