// Checks an operator's clauses on a call whose types match, and computes the result type.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/signature/match.h"

namespace quern {

namespace {

std::string_view message_of(SyntaxPtr where) {
  return where->child(1) ? where->child(1)->text : "a constraint does not hold";
}

}  // namespace

bool SignatureMatcher::clauses() {
  std::string& answers = binding_.answers_of_form.emplace();
  for (SyntaxPtr clause : op_.syntax->child(3)->children) {
    inside_evaluator_.answers_of_form = defines_instance(clause) ? &answers : nullptr;
    if (clause->is(SyntaxKind::StaticClause)) {
      auto value = inside_evaluator_.evaluate(clause->child(0), binding_.env);
      if (!value) return report_inside();
      binding_.env.insert_or_assign(clause->text, *value);
    } else if (clause->is(SyntaxKind::Where)) {
      if (!check(clause)) return false;
    }
  }
  inside_evaluator_.answers_of_form = &answers;
  return true;
}

bool SignatureMatcher::check(SyntaxPtr clause) {
  asking(
      call_.syntax, [this, clause] { return fmt::format("{}: {}", op_text(), message_of(clause)); }, clause);
  std::string detail;
  bool met_unsettled = false;
  inside_evaluator_.met_unsettled = &met_unsettled;
  auto met = holds(clause->child(0), detail);
  inside_evaluator_.met_unsettled = nullptr;
  if (!met) return report_inside();
  // An unsettled dtype gets the benefit of the doubt; the instance is checked again.
  if (*met || met_unsettled) return true;
  if (call_.syntax->is(SyntaxKind::List) && report_ragged()) return false;
  std::vector<Note> notes = argument_notes();
  notes.push_back({Place{{op_.id, clause->id}, {}}, "the constraint is stated here"});
  // `where is_float(t)`: the first tensor of this dtype can be converted.
  std::vector<Fix> fixes;
  SyntaxPtr condition = clause->child(0);
  bool floats = condition->is(SyntaxKind::Call) && condition->child(0)->text == "is_float";
  size_t i = 0;
  for (SyntaxPtr p : params_of(op_.syntax)->children) {
    if (!floats || !p->is(SyntaxKind::TensorParam) || i == call_.tensors.size()) continue;
    SyntaxPtr argument = call_.tensor_syntax[i];
    DType dtype = hooks_.resolve(call_.tensors[i++])->dtype;
    bool same = p->child(0)->is(SyntaxKind::TensorType) && condition->child(1) &&
                p->child(0)->child(1)->text == condition->child(1)->text;
    if (same && fixes.empty() && dtype.is_int() && dtype.has_one_lane())
      fixes.push_back(conversion(argument, DType::float32()));
  }
  report(DiagnosticKind::ConstraintNotMet, call_.syntax,
         fmt::format("{}: {}{}", op_text(), message_of(clause), detail), std::move(notes), std::move(fixes));
  return false;
}

// Reports the first value of a bracketed list whose shape differs from the preceding ones; false if all
// agree.
bool SignatureMatcher::report_ragged() {
  std::span<const SyntaxPtr> values = call_.syntax->children;
  std::span<const Type> types = hooks_.resolve(call_.tensors[0])->args;
  for (size_t k = 1; k < types.size(); ++k) {
    const Type first = hooks_.resolve(types[0]), other = hooks_.resolve(types[k]);
    if (std::ranges::equal(first->dims, other->dims)) continue;
    report(DiagnosticKind::RaggedLiteral, values.size() == types.size() ? values[k] : call_.syntax,
           fmt::format("the values of a list have one shape: element {} has {}, and element 0 {}", k,
                       shape_to_string(other->dims), shape_to_string(first->dims)));
    return true;
  }
  return false;
}

Fix SignatureMatcher::conversion(SyntaxPtr argument, DType to) const {
  Place before{{caller_, argument->id}, {}, Part::Before}, after{{caller_, argument->id}, {}, Part::After};
  bool plain = argument->is(SyntaxKind::Int) && to.is_float() &&
               argument->text.find_first_not_of("-0123456789") == std::string_view::npos;
  if (plain) return {fmt::format("write `{}.0`", argument->text), {{after, ".0"}}};
  return {fmt::format("convert it to {}", to_string(to)),
          {{before, "cast("}, {after, fmt::format(", dtype=\"{}\")", to_string(to))}}};
}

// For an integer and a floating-point tensor, suggests converting the integer.
std::vector<Fix> SignatureMatcher::one_dtype(DType wanted, DType found) const {
  bool two = call_.tensors.size() == 2 && operand_.argument == 1;
  if (!two || !wanted.has_one_lane() || !found.has_one_lane()) return {};
  DType first = hooks_.resolve(wanted), second = hooks_.resolve(found);
  bool literal = call_.tensor_syntax[1]->is(SyntaxKind::Float);
  if (first.is_int() && (second.is_float() || literal))
    return {conversion(call_.tensor_syntax[0], second.is_float() ? second : DType::float32())};
  if (first.is_float() && second.is_int()) return {conversion(call_.tensor_syntax[1], first)};
  return {};
}

std::optional<bool> SignatureMatcher::holds(SyntaxPtr condition, std::string& detail) {
  while (condition->is(SyntaxKind::Paren)) condition = condition->child(0);
  bool binary = condition->is(SyntaxKind::Binary), call = condition->is(SyntaxKind::Call);
  if (binary && condition->text == "and") {
    auto left = holds(condition->child(0), detail);
    return left && *left ? holds(condition->child(1), detail) : left;
  }
  if (binary && condition->text == "or") return either(condition, detail);
  bool comparison = binary && condition->text != "and" && condition->text != "or";
  bool may_equal = call && condition->child(0)->text == "may_equal" && condition->children.size() == 3;
  if (!comparison && !may_equal) {
    auto known = inside_evaluator_.boolean(condition, binding_.env);
    if (known && !*known && call && condition->children.size() == 3)
      add_detail(condition->child(0)->text, condition->child(1), condition->child(2), detail);
    return known;
  }
  size_t first = may_equal ? 1 : 0;
  auto left = inside_evaluator_.evaluate(condition->child(first), binding_.env);
  auto right = inside_evaluator_.evaluate(condition->child(first + 1), binding_.env);
  if (!left || !right) return std::nullopt;
  std::string_view symbol = may_equal ? "==" : condition->text;
  bool met = relate(symbol, *left, *right, condition);
  if (!met)
    detail = symbol == "=="
                 ? fmt::format(": {} is not {}", to_string(*left), to_string(*right))
                 : fmt::format(": {} {} {} does not hold", to_string(*left), symbol, to_string(*right));
  if (!inside_.empty()) return std::nullopt;
  return met;
}

void SignatureMatcher::add_detail(std::string_view test, SyntaxPtr a, SyntaxPtr b, std::string& detail) {
  auto left = inside_evaluator_.evaluate(a, binding_.env),
       right = inside_evaluator_.evaluate(b, binding_.env);
  if (!left || !right) return;
  const std::string first = to_string(*left), second = to_string(*right);
  detail = test == "contains" ? fmt::format(": {} is not one of {}", second, first)
                              : fmt::format(": {} is not {}", first, second);
}

std::optional<bool> SignatureMatcher::either(SyntaxPtr condition, std::string& detail) {
  std::vector<std::pair<Dim, Dim>> open;
  for (SyntaxPtr side : {condition->child(0), condition->child(1)}) {
    while (side->is(SyntaxKind::Paren)) side = side->child(0);
    if (auto sides = open_equality(side)) {
      open.push_back(*sides);
      continue;
    }
    bool last = side == condition->children.back();
    if (last && open.empty()) return holds(side, detail);
    auto known = dtypes_agree(side);
    if (!known) known = inside_evaluator_.boolean(side, binding_.env);
    if (!known || *known) return known;
  }
  if (open.empty()) return false;
  if (open.size() == 1) return hooks_.require(DimRelation::Equal, open[0].first, open[0].second, false);
  Dim product = dim_mul(dim_sub(open[0].first, open[0].second), dim_sub(open[1].first, open[1].second));
  return hooks_.require(DimRelation::Equal, product, dim_const(0), false);
}

std::optional<bool> SignatureMatcher::dtypes_agree(SyntaxPtr side) {
  if (!side->is(SyntaxKind::Binary) || side->text != "==") return std::nullopt;
  auto a = inside_evaluator_.evaluate(side->child(0), binding_.env);
  auto b = inside_evaluator_.evaluate(side->child(1), binding_.env);
  if (!a || !b || !a->as_dtype() || !b->as_dtype()) return std::nullopt;
  return relate("==", *a, *b, side);
}

std::optional<std::pair<Dim, Dim>> SignatureMatcher::open_equality(SyntaxPtr side) {
  if (!side->is(SyntaxKind::Binary) || side->text != "==") return std::nullopt;
  auto a = inside_evaluator_.evaluate(side->child(0), binding_.env);
  auto b = inside_evaluator_.evaluate(side->child(1), binding_.env);
  if (!a || !b || !a->as_dim() || !b->as_dim() || static_equal(*a, *b)) return std::nullopt;
  return std::pair(hooks_.resolve(a->as_dim()), hooks_.resolve(b->as_dim()));
}

bool SignatureMatcher::relate(std::string_view symbol, const StaticValue& left, const StaticValue& right,
                              SyntaxPtr at) {
  if (left.as_list() && right.as_list() && symbol == "==") {
    const StaticList &a = *left.as_list(), &b = *right.as_list();
    bool all = a.size() == b.size();
    for (size_t i = 0; all && i < a.size(); ++i) all = relate(symbol, a[i], b[i], at);
    return all;
  }
  Dim a = left.as_dim(), b = right.as_dim();
  if (a && b && (symbol == "==" || symbol == "!=")) {
    if (auto equal = static_equal(left, right)) return *equal == (symbol == "==");
    bool unknown = a->has_infer || b->has_infer;
    if (unknown && symbol == "==") return hooks_.unify(a, b);
    return hooks_.require(symbol == "==" ? DimRelation::Equal : DimRelation::NotEqual, hooks_.resolve(a),
                          hooks_.resolve(b), false);
  }
  if (a && b) {
    if (symbol == ">" || symbol == ">=") std::swap(a, b);
    bool strict = symbol == "<" || symbol == ">";
    return hooks_.require(DimRelation::LessEqual, strict ? dim_add(a, dim_const(1)) : a, b, false);
  }
  // An unsettled dtype becomes the other one.
  if (left.as_dtype() && right.as_dtype() && symbol == "==")
    return hooks_.unify(*left.as_dtype(), *right.as_dtype());
  if (symbol == "==" || symbol == "!=") return static_equal(left, right).value_or(true) == (symbol == "==");
  auto known = inside_evaluator_.boolean(at, binding_.env);
  return known && *known;
}

bool SignatureMatcher::result() {
  TypeEnv env{std::move(binding_.env), {}};
  binding_.result = resolve_type(op_.syntax->child(2), env, inside_evaluator_, scope_, inside_, op_.id);
  binding_.env = std::move(env.statics);
  return !contains_error(binding_.result) || report_inside();
}

}  // namespace quern
