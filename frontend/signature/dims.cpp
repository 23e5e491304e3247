#include "frontend/signature/dims.h"

#include <algorithm>
#include <set>

#include "ir/type/named.h"

namespace quern {

namespace {

// The names of an expression. Descends only into arithmetic: a name in a call may be anything.
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

bool names_unknown(SyntaxPtr expr, const StaticEnv& env) {
  if (expr->is(SyntaxKind::Name)) return !env.contains(expr->text);
  auto operands = std::span(expr->children);
  if (expr->is(SyntaxKind::Call)) operands = operands.subspan(1);
  return std::ranges::any_of(operands, [&](SyntaxPtr s) { return s && names_unknown(s, env); });
}

std::optional<LinearPattern> linear_pattern(SyntaxPtr expr, StaticEvaluator& evaluator,
                                            const StaticEnv& env) {
  std::set<std::string_view> names;
  bool arithmetic = expr->is(SyntaxKind::Binary) && expr->text != "/" && expr->text != "%";
  if (!arithmetic || !names_in(expr, names)) return std::nullopt;
  size_t known = std::erase_if(names, [&](std::string_view name) { return env.contains(name); });
  if (names.size() != 1) return std::nullopt;
  std::string_view name = *names.begin();
  Dim unknown = named_dim(name);
  StaticEnv with_unknown = env;
  with_unknown.insert_or_assign(name, StaticValue(unknown));
  auto value = evaluator.dim(expr, with_unknown);
  auto linear = value ? linear_in(*value, unknown) : std::nullopt;
  if (!linear) return std::nullopt;
  return LinearPattern{name, linear->coefficient, linear->rest, known ? to_string(*value) : ""};
}

}  // namespace quern
