#include "frontend/infer/general/specialisations.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/context/open_types.h"
#include "ir/type/named.h"

namespace quern {

// The definition at the dims and types of a use of its scheme.
DraftPtr Specialisations::global(SyntaxPtr s, std::string_view name, const Scheme& scheme,
                                 const GeneralUse& use, uint32_t module) {
  std::vector<Dim> dims;
  std::vector<Type> types;
  for (Dim d : scheme.dim_vars) dims.push_back(use.substitution.dims.at(d));
  for (Type t : scheme.type_vars) types.push_back(use.substitution.types.at(t));
  return drafts_.form(origin(s), use.type,
                      GlobalExpr{.name = drafts_.copy(name),
                                 .dims = drafts_.copy(dims),
                                 .types = drafts_.copy(types),
                                 .module = module});
}

DraftPtr Specialisations::use(SyntaxPtr s, std::string_view name, const Scheme& scheme) {
  std::string shown = fmt::format("`@{}`", name);
  GeneralUse use = general_.at_use(scheme, s, shown);
  type_arguments(s, scheme, use.substitution);
  if (!scheme.specialised) return global(s, name, scheme, use, scope_.module());
  Use of{s, name, {}, scope_.annotations(name) != nullptr, use.number};
  for (Dim d : scheme.dim_vars) of.dims.push_back(use.substitution.dims.at(d));
  DraftPtr waiting = drafts_.make<GeneralUseDraft>(origin(s), use.type);
  relations_.relate(s, waiting, fmt::format("the arguments of {}", shown),
                    [this, waiting, of] { return attempt(waiting, of); });
  return waiting;
}

namespace {

// Numbers the caller's rigid type variables in order, so that all callers agree.
class CanonicalVars {
 public:
  Type apply(Type type) {
    if (type->kind == TypeKind::Var) {
      auto [entry, added] = known_.try_emplace(type, nullptr);
      if (added) entry->second = named_type(fmt::format("A{}", known_.size() - 1));
      return entry->second;
    }
    if (type->args.empty()) return type;
    std::vector<Type> args;
    for (Type a : type->args) args.push_back(apply(a));
    return with_args(type, args);
  }

 private:
  std::unordered_map<Type, Type> known_;
};

}  // namespace

bool Specialisations::attempt(DraftPtr waiting, const Use& use) {
  if (operators_.is_broken(use.number)) return unifier_.unify(waiting->type, error_type()), true;
  auto params = settled_params(waiting->type, unifier_);
  if (!params) return false;
  // What is wrong with an argument is reported there.
  if (std::ranges::any_of(*params, contains_error)) return unifier_.unify(waiting->type, error_type()), true;
  CanonicalVars canonical;
  for (Type& t : *params) t = canonical.apply(t);
  const Declaration& def = *scope_.global(use.name);
  uint32_t home = scope_.home(def).module();
  InstanceRequest request = make_request(def, *params);
  std::string key = request.key.substr(1);
  context_.needs.push_back({request, place(use.at)});
  if (use.annotated) {
    scope_.specialise(request);
    waiting->replacement = drafts_.form(
        origin(use.at), waiting->type,
        GlobalExpr{
            .name = drafts_.copy(std::string_view(key)), .dims = drafts_.copy(use.dims), .module = home});
    return true;
  }
  const Inferred* copy = scope_.specialised(request);
  if (copy && copy->definition.body) {
    use_specialised(waiting, use, *copy, key, home);
    return true;
  }
  if (copy)
    for (const Diagnostic& d : copy->diagnostics)
      report(d.kind, use.at, fmt::format("`@{}`: {}", use.name, d.message),
             {{d.place, fmt::format("in `@{}`, as it is used here", use.name)}});
  unifier_.unify(waiting->type, error_type());
  return true;
}

void Specialisations::use_specialised(DraftPtr waiting, const Use& use, const Inferred& copy,
                                      std::string_view key, uint32_t home) {
  std::string shown = fmt::format("`@{}`", use.name);
  GeneralUse here = general_.at_use(copy.definition.scheme, use.at, shown);
  assignments_.expect(use.at, waiting->type, here.type, shown);
  waiting->replacement = global(use.at, key, copy.definition.scheme, here, home);
}

}  // namespace quern
