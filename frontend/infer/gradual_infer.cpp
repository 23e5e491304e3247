// What inference does about `?`: opening, checks, joins.

#include <fmt/format.h>

#include "frontend/infer/inference.h"

namespace quern {

bool has_open_dim(Type type) {
  bool found = false;
  for_each_value_dim(type, [&](Dim dim) { found |= dim->has_any; });
  return found;
}

namespace {

/// Of a relation that does not hold, `{}` for the values: "the dim `n` is {} here but {} was expected".
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

// --- checks ----------------------------------------------------------------------------------------------

bool Inference::require(DimRelation relation, Dim a, Dim b, bool strict) {
  if (auto known = known_dims.decide(relation, a, b, point_)) return *known;
  if (strict && !contains_opened(known_dims.normalise(a, point_)) &&
      !contains_opened(known_dims.normalise(b, point_)))
    return false;
  if (!site_.draft || a->has_infer || b->has_infer) return false;
  known_dims.assume(relation, a, b, point_);
  if (as_const(a) && relation != DimRelation::LessEqual) std::swap(a, b);
  std::string message = (site_.what ? site_.what() + ": " : "") + message_of(relation, a, b);
  drafts_.check(site_.draft,
                {relation, a, b, drafts_.copy(std::string_view(message)), site_.origin, site_.source});
  return true;
}

void Inference::asking(SyntaxPtr at, const Place& source, std::function<std::string()> what) {
  site_.origin = {matching_ ? matching_->origin.declaration : declaration_, at->id};
  site_.source = source.origin;
  site_.what = std::move(what);
}

ExprPtr Inference::checked(DraftPtr draft, ExprPtr node) {
  if (draft->checks.empty() || !node || node->kind == ExprKind::Error) return node;
  std::vector<DimCondition> conditions(draft->checks.begin(), draft->checks.end());
  for (DimCondition& condition : conditions) condition.message = arena->copy(condition.message);
  return arena->make<CheckDimsExpr>(Expr{ExprKind::CheckDims, node->type, node->origin}, node,
                                    std::span<const Dim>(), arena->copy(conditions));
}

bool Inference::assign(Type wanted, Type found, bool inside) {
  wanted = resolve(wanted);
  found = resolve(found);
  if (wanted == found) return true;
  if (wanted->kind == TypeKind::Infer || found->kind == TypeKind::Infer || wanted->kind != found->kind ||
      wanted->args.size() != found->args.size())
    return unifier.unify(wanted, found);
  switch (wanted->kind) {
    case TypeKind::Tensor: {
      if (wanted->dims.size() != found->dims.size() || !unifier.unify(wanted->dtype, found->dtype))
        return false;
      for (size_t i = 0; i < wanted->dims.size(); ++i) {
        Dim w = wanted->dims[i], f = found->dims[i];
        // The shapes inside of data and of functions are not there to be looked at.
        if (inside && f->has_any && !w->has_any && !w->has_infer) return false;
        if (!w->has_any && !unifier.unify(w, f)) return false;
      }
      return true;
    }
    case TypeKind::Tuple: {
      for (size_t i = 0; i < wanted->args.size(); ++i)
        if (!assign(wanted->args[i], found->args[i], inside)) return false;
      return true;
    }
    case TypeKind::Data: {
      if (wanted->id != found->id || wanted->name != found->name) return false;
      for (size_t i = 0; i < wanted->args.size(); ++i)
        if (is_writable(wanted, i) ? !is_same(wanted->args[i], found->args[i])
                                   : !assign(wanted->args[i], found->args[i], true))
          return false;
      return true;
    }
    case TypeKind::Function: {
      for (size_t i = 0; i < wanted->params().size(); ++i)
        if (!assign(found->params()[i], wanted->params()[i], true)) return false;
      return assign(wanted->result(), found->result(), true);
    }
    case TypeKind::Ref: return is_same(wanted->args[0], found->args[0]);
    case TypeKind::Var:
    case TypeKind::Infer:
    case TypeKind::Error: break;
  }
  return unifier.unify(wanted, found);
}

bool Inference::is_same(Type a, Type b) {
  bool outer = std::exchange(unifier.exactly, true);
  bool same = unifier.unify(a, b);
  unifier.exactly = outer;
  return same;
}

// Through a value of the type somebody else may change, or ask for, a value of the argument's type: it stands
// in a reference or as a function's parameter.
bool Inference::is_writable(Type data, size_t argument) {
  std::set<std::pair<const void*, size_t>> asked;
  std::function<bool(Type, Type, bool)> within = [&](Type in, Type var, bool writable) -> bool {
    if (in == var) return writable;
    const DataDefinition* definition = in->kind == TypeKind::Data ? scope_.data_of(in) : nullptr;
    for (size_t i = 0; i < in->args.size(); ++i) {
      bool result = in->kind == TypeKind::Function && i + 1 == in->args.size();
      bool below = writable || in->kind == TypeKind::Ref || (in->kind == TypeKind::Function && !result);
      if (definition && !below && i < definition->header.type_vars.size() &&
          asked.emplace(definition, i).second)
        for (const DataConstructor& c : definition->constructors)
          for (const DataField& f : c.fields)
            below = below || within(f.type, definition->header.type_vars[i], false);
      if (within(in->args[i], var, below)) return true;
    }
    return false;
  };
  const DataDefinition* definition = scope_.data_of(data);
  if (!definition || argument >= definition->header.type_vars.size()) return false;
  Type var = definition->header.type_vars[argument];
  asked.emplace(definition, argument);
  for (const DataConstructor& c : definition->constructors)
    for (const DataField& f : c.fields)
      if (within(f.type, var, false)) return true;
  return false;
}

// --- opening ---------------------------------------------------------------------------------------------

DraftPtr Inference::opened(DraftPtr value, Type type, std::string_view name) {
  if (!has_open_dim(type)) return value;
  std::vector<Dim> dims;
  uint32_t region = region_now();
  std::function<Type(Type, const std::string&)> open = [&](Type t, const std::string& path) -> Type {
    if (t->kind == TypeKind::Tuple) {
      std::vector<Type> fields;
      for (size_t i = 0; i < t->args.size(); ++i)
        fields.push_back(open(t->args[i], fmt::format("{}.{}", path, i)));
      return tuple_type(fields);
    }
    return map_value_dims(t, [&](Dim dim, size_t axis) {
      if (!dim->has_any) return dim;
      dims.push_back(known_dims.open(fmt::format("{}.{}", path, axis), region));
      return dims.back();
    });
  };
  Type exact = open(type, std::string(name));
  return drafts_.form(value->origin, exact, CheckDimsExpr{.opened = drafts_.copy(dims)}, {value});
}

Type Inference::closed(Type type, uint32_t region) {
  auto local = [&](Dim var) { return known_dims.is_local(var, region); };
  type = resolve(type);
  if (!mentions(type, local)) return type;
  Substitution open;
  for_each_dim_var(type, [&](Dim var) {
    if (local(var)) open.dims.emplace(var, dim_any());
  });
  return substitute(type, open);
}

// --- joins -----------------------------------------------------------------------------------------------

DraftPtr Inference::infer_arm(SyntaxPtr s, uint32_t& region, Type wanted) {
  uint32_t outer = known_dims.enter();
  region = known_dims.region();
  DraftPtr arm = infer(s, wanted);
  known_dims.leave(outer);
  return arm;
}

DraftPtr Inference::joined(DraftPtr branch, const std::vector<DraftPtr>& arms,
                           const std::vector<uint32_t>& regions, const std::vector<SyntaxPtr>& at) {
  Type join = nullptr;
  for (size_t i = 0; i < arms.size(); ++i) {
    Type type = closed(arms[i]->type, regions[i]);
    if (!join || join->kind == TypeKind::Infer) {
      // An arm whose type is not known yet has that of the others.
      if (join) unifier.unify(join, type);
      join = resolve(type);
      continue;
    }
    if (type->is_error()) join = type;
    if (join->is_error()) break;
    if (Type both = join_types(join, type, [this](Type a, Type b) { return unifier.unify(a, b); })) {
      join = resolve(both);
      continue;
    }
    bool condition = form_of<IfExpr>(branch) != nullptr;
    expect(at[i], join, type, condition ? "the `else` arm" : "the value of this arm",
           {{place(at[0]), "the first arm is here"}}, DiagnosticKind::ArmsDiffer, arms[i]);
  }
  unifier.unify(branch->type, join);
  return opened(branch, join, form_of<IfExpr>(branch) ? "if" : "match");
}

}  // namespace quern
