// Tuples whose fields are counted out: `(e for k < n)`, `(..%xs, %y)`, `len(%xs)`.

#include <fmt/format.h>

#include "frontend/infer/inference.h"

namespace quern {

/// The longest tuple that `(e for k < n)` makes.
constexpr int64_t kMaxFamily = 10'000;

std::optional<StaticValue> Inference::Statics::other(SyntaxPtr expr, const StaticEnv& env) {
  if (!expr->is(SyntaxKind::Local) && !expr->is(SyntaxKind::GraphName))
    return StaticEvaluator::other(expr, env);
  // The positions of a tuple's members. Whatever else is wrong with the name is reported where it is a value.
  for (auto it = inference_.locals_.rbegin(); it != inference_.locals_.rend(); ++it) {
    if (it->name != expr->text) continue;
    Type type = inference_.resolve(it->variable->type);
    if (type->kind != TypeKind::Tuple) break;
    StaticList positions;
    for (size_t k = 0; k < type->args.size(); ++k)
      positions.push_back(StaticValue::integer(static_cast<int64_t>(k)));
    return StaticValue::list(std::move(positions));
  }
  const TopLevelVariable* top = scope_.variable(expr->text);
  Type type = top ? top->variable->type : nullptr;
  if (!type || type->kind != TypeKind::Tuple) return StaticEvaluator::other(expr, env);
  StaticList positions;
  for (size_t k = 0; k < type->args.size(); ++k)
    positions.push_back(StaticValue::integer(static_cast<int64_t>(k)));
  return StaticValue::list(std::move(positions));
}

bool Inference::tuple_fields(SyntaxPtr s, std::vector<DraftPtr>& fields, Type wanted) {
  if (s->is(SyntaxKind::Generator)) {
    Statics statics = evaluator();
    auto limit = statics.dim(s->child(1), env.statics);
    if (!limit) return false;
    auto count = as_const(*limit);
    if (!count || *count > kMaxFamily) {
      report(DiagnosticKind::NotStatic, s->child(1),
             count ? fmt::format("a tuple of {} fields is too long: the limit is {}", *count, kMaxFamily)
                   : fmt::format("how many fields a tuple has must be known at compile time, not {}",
                                 to_string(*limit)));
      return false;
    }
    TypeEnv outer = env;
    bool all = true;
    for (int64_t k = 0; all && k < *count; ++k) {
      env.statics.insert_or_assign(std::string(s->text), StaticValue::integer(k));
      auto keep = s->child(2) ? statics.boolean(s->child(2), env.statics) : std::optional(true);
      all = keep.has_value();
      if (keep && *keep) fields.push_back(infer(s->child(0)));
    }
    env = std::move(outer);
    return all;
  }
  if (!s->is(SyntaxKind::Spread)) {
    bool known = wanted && wanted->kind == TypeKind::Tuple && fields.size() < wanted->args.size();
    fields.push_back(infer(s, known ? wanted->args[fields.size()] : nullptr));
    return true;
  }
  DraftPtr tuple = infer(s->child(0));
  Type type = resolve(tuple->type);
  if (type->kind != TypeKind::Tuple) {
    if (!type->is_error())
      report(DiagnosticKind::TypeMismatch, s,
             fmt::format("`..` spreads a tuple whose length is known here, and this is {}",
                         unifier.describe(type)),
             origin_of(tuple));
    return false;
  }
  for (uint32_t k = 0; k < type->args.size(); ++k)
    fields.push_back(drafts_.form(origin(s), type->args[k], FieldExpr{.index = k}, {tuple}));
  return true;
}

DraftPtr Inference::tuple(SyntaxPtr s, Type wanted) {
  if (wanted) wanted = resolve(wanted);
  std::vector<DraftPtr> fields;
  bool all = true;
  for (SyntaxPtr c : s->children) all = tuple_fields(c, fields, wanted) && all;
  if (!all) return error(s);
  return drafts_.tuple(origin(s), fields);
}

// `index(e)`: what `e` is at compile time, as a value.
DraftPtr Inference::index_value(SyntaxPtr s) {
  auto value = evaluator().evaluate(s->child(1), env.statics);
  if (!value) return error(s);
  if (!value->as_dim()) {
    report(DiagnosticKind::NotStatic, s->child(1),
           fmt::format("`index(…)` takes an integer or a dim, not {}", to_string(*value)));
    return error(s);
  }
  return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = value->as_dim()});
}

// The number of fields of a tuple, as an index.
DraftPtr Inference::tuple_length(SyntaxPtr s) {
  auto length = evaluator().evaluate(s, env.statics);
  if (!length || !length->as_dim()) return error(s);
  return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = length->as_dim()});
}

}  // namespace quern
