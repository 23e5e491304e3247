#include "passes/instantiation.h"

#include <algorithm>

namespace quern {

namespace {

// Binds a function's dims from its arguments' types.
void bind_dims(Type param, Type argument, std::span<const Dim> dim_vars, DimMap& dims) {
  for (size_t k = 0; k < param->dims.size() && k < argument->dims.size(); ++k)
    if (std::ranges::count(dim_vars, param->dims[k])) dims.emplace(param->dims[k], argument->dims[k]);
  for (size_t k = 0; k < param->args.size() && k < argument->args.size(); ++k)
    bind_dims(param->args[k], argument->args[k], dim_vars, dims);
}

// Binds a polymorphic function's types from the type of its use.
void bind_types(Type general, Type used, Substitution& at) {
  if (general->kind == TypeKind::Var) at.types.emplace(general, used);
  if (general->dtype.is_var() && used->is_tensor()) at.dtypes.emplace(general->dtype, used->dtype);
  for (size_t k = 0; k < general->args.size() && k < used->args.size(); ++k)
    bind_types(general->args[k], used->args[k], at);
}

}  // namespace

std::optional<Substitution> instantiation(const FnExpr& fn, Type callee, std::span<const Type> args) {
  Substitution at;
  bind_types(fn.type, callee, at);
  for (size_t i = 0; i < fn.params.size(); ++i) bind_dims(fn.params[i]->type, args[i], fn.dim_vars, at.dims);
  for (Dim d : fn.dim_vars)
    if (!at.dims.contains(d)) return std::nullopt;
  return at;
}

}  // namespace quern
