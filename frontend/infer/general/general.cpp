// Uses of type schemes.

#include "frontend/infer/general/general.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace quern {

void General::instantiate(const Scheme& scheme, Substitution& substitution) {
  for (Dim d : scheme.dim_vars) substitution.dims.emplace(d, unifier_.fresh_dim());
  for (Type t : scheme.type_vars) substitution.types.emplace(t, unifier_.fresh_type());
  for (const auto& [t, dtype_class] : scheme.dtype_vars)
    substitution.dtypes.emplace(t, unifier_.fresh_dtype(dtype_class));
}

namespace {

// Calls `visit` with the type variables in a type until it returns false.
bool each_variable(Type type, const std::function<bool(Type)>& visit) {
  if (type->kind == TypeKind::Var && !visit(type)) return false;
  return std::ranges::all_of(type->args, [&](Type arg) { return each_variable(arg, visit); });
}

}  // namespace

GeneralUse General::at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name) {
  GeneralUse use{{}, nullptr, ++uses_};
  instantiate(scheme, use.substitution);
  // Constraints that depend on a part that no operator yields, such as a field, are checked when the function
  // is specialised.
  std::set<Type> given;
  auto add = [&](Type type) { each_variable(type, [&](Type v) { return given.insert(v), true; }); };
  auto is_given = [&](Type type) { return each_variable(type, [&](Type v) { return given.contains(v); }); };
  add(scheme.type);
  for (const Constraint& c : scheme.constraints) {
    if (scheme.specialised && !std::ranges::all_of(c.args, is_given)) continue;
    add(c.result);
    discharge(c, at, name, use);
  }
  use.type = substitute(scheme.type, use.substitution);
  return use;
}

void General::discharge(const Constraint& constraint, SyntaxPtr at, const std::string& name,
                        const GeneralUse& use) {
  const Declaration* op = scope_.op(constraint.op);
  if (!op) return;
  OperatorCallDraft& draft = operators_.make(*op, at);
  draft.need = {name, constraint.origin, use.number};
  if (!constraint.symbol.empty()) {
    // Calls written with a symbol are reported with it.
    SyntaxKind kind = constraint.args.size() == 2 ? SyntaxKind::Binary : SyntaxKind::Unary;
    draft.call.syntax =
        drafts_.arena().make<Syntax>(kind, at->id, drafts_.copy(std::string_view(constraint.symbol)));
  }
  for (Type t : constraint.args) {
    draft.call.tensors.push_back(substitute(t, use.substitution));
    draft.call.tensor_syntax.push_back(at);
  }
  draft.call.attributes = constraint.attributes;
  draft.call.attribute_syntax.assign(constraint.attributes.size(), at);
  draft.type = substitute(constraint.result, use.substitution);
  operators_.relate(at, draft, fmt::format("the arguments of {}", name));
}

}  // namespace quern
