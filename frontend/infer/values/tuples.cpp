#include "frontend/infer/values/tuples.h"

#include <fmt/format.h>

namespace quern {

/// The longest tuple that `(e for k < n)` makes.
constexpr int64_t kMaxFamily = 10'000;

// `(e for k < n)`; false after a diagnostic.
bool Tuples::add_generated(SyntaxPtr s, std::vector<DraftPtr>& fields) {
  Statics statics = names_.evaluator();
  auto limit = statics.dim(s->child(1), names_.env.statics);
  if (!limit) return false;
  auto count = as_const(*limit);
  if (!count || *count > kMaxFamily) {
    report(DiagnosticKind::NotStatic, s->child(1),
           count ? fmt::format("a tuple of {} fields is too long: the limit is {}", *count, kMaxFamily)
                 : fmt::format("how many fields a tuple has must be known at compile time, not {}",
                               to_string(*limit)));
    return false;
  }
  TypeEnv outer = names_.env;
  bool all = true;
  for (int64_t k = 0; all && k < *count; ++k) {
    names_.env.statics.insert_or_assign(s->text, StaticValue::integer(k));
    auto keep = s->child(2) ? statics.boolean(s->child(2), names_.env.statics) : std::optional(true);
    all = keep.has_value();
    if (keep && *keep) fields.push_back(infer(s->child(0)));
  }
  names_.env = std::move(outer);
  return all;
}

// `..%t`; false after a diagnostic.
bool Tuples::add_spread(SyntaxPtr s, std::vector<DraftPtr>& fields) {
  DraftPtr tuple = infer(s->child(0));
  Type type = resolve(tuple->type);
  if (type->kind != TypeKind::Tuple) {
    if (!type->is_error())
      report(DiagnosticKind::TypeMismatch, s,
             fmt::format("`..` spreads a tuple whose length is known here, and this is {}",
                         unifier_.describe(type)),
             names_.origin_of(tuple));
    return false;
  }
  for (uint32_t k = 0; k < type->args.size(); ++k)
    fields.push_back(drafts_.form(origin(s), type->args[k], FieldExpr{.index = k}, {tuple}));
  return true;
}

bool Tuples::add_fields(SyntaxPtr s, std::vector<DraftPtr>& fields, Type wanted) {
  if (s->is(SyntaxKind::Generator)) return add_generated(s, fields);
  if (s->is(SyntaxKind::Spread)) return add_spread(s, fields);
  bool known = wanted && wanted->kind == TypeKind::Tuple && fields.size() < wanted->args.size();
  fields.push_back(infer(s, known ? wanted->args[fields.size()] : nullptr));
  return true;
}

DraftPtr Tuples::tuple(SyntaxPtr s, Type wanted) {
  if (wanted) wanted = resolve(wanted);
  std::vector<DraftPtr> fields;
  bool all = true;
  for (SyntaxPtr c : s->children) all = add_fields(c, fields, wanted) && all;
  if (!all) return error(s);
  return drafts_.tuple(origin(s), fields);
}

/// The compile-time value of its argument, as a value.
template <>
DraftPtr Tuples::call<CalledWord::Index>(SyntaxPtr s, Type) {
  auto value = names_.evaluator().evaluate(s->child(1), names_.env.statics);
  if (!value) return error(s);
  if (!value->as_dim()) {
    report(DiagnosticKind::NotStatic, s->child(1),
           fmt::format("`index(…)` takes an integer or a dim, not {}", to_string(*value)));
    return error(s);
  }
  return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = value->as_dim()});
}

/// The number of fields of a tuple, as an index.
template <>
DraftPtr Tuples::call<CalledWord::Len>(SyntaxPtr s, Type) {
  auto length = names_.evaluator().evaluate(s, names_.env.statics);
  if (!length || !length->as_dim()) return error(s);
  return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = length->as_dim()});
}

}  // namespace quern
