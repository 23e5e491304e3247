#include "frontend/signature/known_names.h"

#include <algorithm>

#include "frontend/signature/dims.h"
#include "frontend/signature/match.h"

namespace quern {

namespace {

/// Types without unknowns: equality is identity, and a `?` matches everything.
class SettledTypes final : public TypeHooks {
 public:
  Type resolve(Type type) override { return type; }
  Dim resolve(Dim dim) override { return dim; }
  DType resolve(DType dtype) override { return dtype; }
  bool unify(Type a, Type b) override { return a == b; }
  bool unify(Dim a, Dim b) override { return a == b || a->has_any || b->has_any; }
  bool unify(DType a, DType b) override { return a == b; }
  bool require(DimRelation, Dim, Dim, bool) override { return true; }
  void asking(SyntaxPtr, const Place&, std::function<std::string()>) override {}
  std::string describe(DType dtype) override { return to_string(dtype); }
  std::string describe(Type type) override { return to_string(type); }
  std::vector<Note> origin_of_argument(size_t) override { return {}; }
};

// Placeholder syntax for arguments in discarded diagnostics.
constexpr Syntax kNowhere{SyntaxKind::Error, 0, {}, {}};

SyntaxPtr without_parentheses(SyntaxPtr expr) {
  while (expr && expr->is(SyntaxKind::Paren)) expr = expr->child(0);
  return expr;
}

}  // namespace

StaticEnv SignatureMatcher::known() {
  for (SyntaxPtr p : params_of(op_.syntax)->children) {
    if (!p->is(SyntaxKind::AttributeParam)) continue;
    const auto given = std::ranges::find(call_.attributes, p->text, [](const auto& a) { return a.first; });
    bind_attribute(p, given == call_.attributes.end() ? nullptr : &given->second, &kNowhere);
    inside_.clear();
  }
  for (SyntaxPtr p : params_of(op_.syntax)->children) {
    if (!p->is(SyntaxKind::TensorParam) || operand_.argument >= call_.tensors.size()) continue;
    operand_.param = p;
    if (Type type = call_.tensors[operand_.argument]) match(p->child(0), type);
    ++operand_.argument;
  }
  match_put_off();
  inside_.clear();
  for (SyntaxPtr declared : late_)
    if (auto value = known_value(declared->child(1))) binding_.env.insert_or_assign(declared->text, *value);
  for (SyntaxPtr clause : op_.syntax->child(3)->children) {
    if (clause->is(SyntaxKind::Where)) learn(clause->child(0));
    if (!clause->is(SyntaxKind::StaticClause)) continue;
    if (auto value = known_value(clause->child(0))) binding_.env.insert_or_assign(clause->text, *value);
  }
  return std::move(binding_.env);
}

std::optional<StaticValue> SignatureMatcher::known_value(SyntaxPtr expr) {
  auto value = inside_evaluator_.evaluate(expr, binding_.env);
  inside_.clear();
  return value;
}

// Binds a name if a required condition leaves only one possibility.
void SignatureMatcher::learn(SyntaxPtr condition) {
  condition = without_parentheses(condition);
  if (!condition || !condition->is(SyntaxKind::Binary)) return;
  SyntaxPtr left = without_parentheses(condition->child(0)), right = without_parentheses(condition->child(1));
  if (condition->text == "and") {
    learn(left);
    learn(right);
  } else if (condition->text == "or") {
    if (decided(right) == false) learn(left);
    if (decided(left) == false) learn(right);
  } else if (condition->text == "==") {
    for (auto [name, other] : {std::pair(left, right), std::pair(right, left)}) {
      if (!name->is(SyntaxKind::Name) || binding_.env.contains(name->text) || parse_dtype(name->text))
        continue;
      if (auto value = known_value(other)) binding_.env.insert_or_assign(name->text, *value);
    }
  }
}

// Whether a condition holds regardless of unknown names; nothing if it depends on them.
std::optional<bool> SignatureMatcher::decided(SyntaxPtr condition) {
  condition = without_parentheses(condition);
  const bool is_and = condition->is(SyntaxKind::Binary) && condition->text == "and";
  if (is_and || (condition->is(SyntaxKind::Binary) && condition->text == "or")) {
    const auto left = decided(condition->child(0)), right = decided(condition->child(1));
    if (left == !is_and || right == !is_and) return !is_and;
    return left && right ? std::optional(is_and) : std::nullopt;
  }
  const auto value = known_value(condition);
  return value && value->as_bool() ? std::optional(*value->as_bool()) : std::nullopt;
}

StaticEnv known_names(const Declaration& op, const PartialCall& call, Scope& scope) {
  if (op.syntax->children.size() < 4 || !op.syntax->child(3)) return {};
  SignatureCall known;
  known.syntax = &kNowhere;
  known.tensors = call.tensors;
  known.tensor_syntax.assign(call.tensors.size(), &kNowhere);
  known.attributes = call.attributes;
  known.attribute_syntax.assign(call.attributes.size(), &kNowhere);
  SettledTypes hooks;
  Diagnostics unseen;
  return SignatureMatcher(op, known, scope.home(op), hooks, unseen, op.id).known();
}

}  // namespace quern
