#include "frontend/infer/gradual/dim_checks.h"

#include <fmt/format.h>

#include "frontend/infer/gradual/open_dims.h"

namespace quern {

namespace {

/// The message of a failed relation, with `{}` for the values: "the dim `n` is {} here but {} was expected".
std::string message_of(DimRelation relation, Dim a, Dim b) {
  std::string left = to_string(a), right = to_string(b);
  bool known = as_const(b).has_value();
  switch (relation) {
    case DimRelation::Equal:
      return known
                 ? fmt::format("the dim `{}` is {{}} here but {{}} was expected", left)
                 : fmt::format("the dim `{}` is {{}} here but {{}} was expected, which `{}` is", left, right);
    case DimRelation::NotEqual:
      return fmt::format("the dim `{}` is {{}} here and has to differ from {{}}{}", left,
                         known ? "" : fmt::format(", which `{}` is", right));
    case DimRelation::LessEqual:
      return fmt::format("`{}` is {{}} here and has to be at most {{}}{}", left,
                         known ? "" : fmt::format(", which `{}` is", right));
    case DimRelation::Broadcast:
      return fmt::format("the dims `{}` and `{}` do not broadcast: {{}} and {{}} differ and neither is 1",
                         left, right);
  }
  return "";
}

bool mentions(Type type, const std::function<bool(Dim)>& test) {
  bool found = false;
  for_each_dim_var(type, [&](Dim var) { found |= test(var); });
  return found;
}

}  // namespace

DimChecks::DimChecks(Context& context) : Component(context) {
  unifier_.put_off = [this] { put_off_.push_back({{site.origin, {}}, site.what ? site.what() + ": " : ""}); };
  unifier_.equate = [this](Dim a, Dim b) { return require(DimRelation::Equal, a, b, true); };
}

bool DimChecks::require(DimRelation relation, Dim a, Dim b, bool strict) {
  if (auto known = known_.decide(relation, a, b, point_)) return *known;
  if (strict && !contains_opened(known_.normalise(a, point_)) &&
      !contains_opened(known_.normalise(b, point_)))
    return false;
  if (!site.draft || a->has_infer || b->has_infer) return false;
  known_.assume(relation, a, b, point_);
  if (as_const(a) && relation != DimRelation::LessEqual) std::swap(a, b);
  std::string message = (site.what ? site.what() + ": " : "") + message_of(relation, a, b);
  drafts_.check(site.draft,
                {relation, a, b, drafts_.copy(std::string_view(message)), site.origin, site.source});
  return true;
}

bool DimChecks::attempt_at(ProgramPoint point, const std::function<bool()>& attempt) {
  ProgramPoint outer_point = std::exchange(point_, point);
  bool outer = std::exchange(in_relation_, true);
  bool done = attempt();
  in_relation_ = outer;
  point_ = outer_point;
  return done;
}

DraftPtr DimChecks::opened(DraftPtr value, Type type, std::string_view name) {
  if (!has_open_dim(type)) return value;
  std::vector<Dim> dims;
  std::function<Type(Type, const std::string&)> open = [&](Type t, const std::string& path) -> Type {
    if (t->kind == TypeKind::Tuple) {
      std::vector<Type> fields;
      for (size_t i = 0; i < t->args.size(); ++i)
        fields.push_back(open(t->args[i], fmt::format("{}.{}", path, i)));
      return tuple_type(fields);
    }
    return map_value_dims(t, [&](Dim dim, size_t axis) {
      if (!dim->has_any) return dim;
      dims.push_back(this->open(fmt::format("{}.{}", path, axis)));
      return dims.back();
    });
  };
  Type exact = open(type, std::string(name));
  return drafts_.form(value->origin, exact, CheckDimsExpr{.opened = drafts_.copy(dims)}, {value});
}

Type DimChecks::closed(Type type, uint32_t region) {
  auto local = [&](Dim var) { return known_.is_local(var, region); };
  type = resolve(type);
  if (!mentions(type, local)) return type;
  Substitution open;
  for_each_dim_var(type, [&](Dim var) {
    if (local(var)) open.dims.emplace(var, dim_any());
  });
  return substitute(type, open);
}

}  // namespace quern
