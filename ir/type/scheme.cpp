#include "ir/type/scheme.h"

#include <algorithm>

namespace quern {

namespace {

std::string to_string(const Constraint& constraint) {
  std::string text = constraint.op + "(";
  for (size_t i = 0; i < constraint.args.size(); ++i)
    text += (i > 0 ? ", " : "") + to_string(constraint.args[i]);
  for (const auto& [name, value] : constraint.attributes)
    text += ", " + (name.empty() ? "" : name + "=") + to_string(value);
  return text + ") -> " + to_string(constraint.result);
}

}  // namespace

std::string to_string(const Scheme& scheme) {
  std::string type = to_string(scheme.type);
  std::string vars;
  auto add = [&](const std::string& name) { vars += (vars.empty() ? "[" : ", ") + name; };
  for (Dim dim : scheme.dim_vars) add(to_string(dim));
  for (Type var : scheme.type_vars) add(to_string(var));
  for (const auto& [var, _] : scheme.dtype_vars) add(to_string(var));
  if (!vars.empty()) {
    vars += "]";
    // As in a definition, the variables precede the parameters: `fn [n](Tensor[(n,), float32]) -> float32`.
    type = scheme.type->kind == TypeKind::Function ? type.insert(3, vars) : vars + " " + type;
  }
  for (size_t i = 0; i < scheme.constraints.size(); ++i)
    type += (i == 0 ? " where " : ", ") + to_string(scheme.constraints[i]);
  return type;
}

bool same_but_for_names(const Scheme& a, const Scheme& b) {
  if (a.dim_vars.size() != b.dim_vars.size() || a.type_vars.size() != b.type_vars.size() ||
      a.dtype_vars.size() != b.dtype_vars.size() || a.constraints.size() != b.constraints.size() ||
      a.specialised != b.specialised)
    return false;
  Substitution rename;
  for (size_t i = 0; i < a.dim_vars.size(); ++i) rename.dims.emplace(a.dim_vars[i], b.dim_vars[i]);
  for (size_t i = 0; i < a.type_vars.size(); ++i) rename.types.emplace(a.type_vars[i], b.type_vars[i]);
  for (size_t i = 0; i < a.dtype_vars.size(); ++i) {
    if (a.dtype_vars[i].second != b.dtype_vars[i].second) return false;
    rename.dtypes.emplace(a.dtype_vars[i].first, b.dtype_vars[i].first);
  }
  auto same = [&](Type x, Type y) { return substitute(x, rename) == y; };
  return same(a.type, b.type) &&
         std::ranges::equal(a.constraints, b.constraints, [&](const Constraint& x, const Constraint& y) {
           return x.op == y.op && x.attributes == y.attributes && same(x.result, y.result) &&
                  std::ranges::equal(x.args, y.args, same);
         });
}

}  // namespace quern
