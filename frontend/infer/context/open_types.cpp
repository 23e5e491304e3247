#include "frontend/infer/context/open_types.h"

#include <algorithm>

namespace quern {

bool has_open_part(Type type) {
  if (type->kind == TypeKind::Infer || type->dtype.is_infer()) return true;
  return std::any_of(type->args.begin(), type->args.end(), has_open_part);
}

Type with_open_dims(Type type, Unifier& unifier) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    for (Dim d : type->dims) dims.push_back(d->has_any ? unifier.fresh_dim() : d);
    return tensor_type(dims, type->dtype);
  }
  if (type->kind == TypeKind::Dim && type->dims[0]->has_any) return dim_argument(unifier.fresh_dim());
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(with_open_dims(a, unifier));
  return with_args(type, args);
}

Type with_open_result(Type function, Unifier& unifier) {
  Type rest = function->result();
  return function_type(function->params(), rest->kind == TypeKind::Function ? with_open_result(rest, unifier)
                                                                            : unifier.fresh_type());
}

namespace {

Type without_dims(Type type) {
  if (type->is_tensor()) return tensor_type(std::vector<Dim>(type->dims.size(), dim_any()), type->dtype);
  if (type->kind == TypeKind::Dim) return dim_argument(dim_any());
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(without_dims(a));
  return with_args(type, args);
}

}  // namespace

std::optional<std::vector<Type>> settled_params(Type function, Unifier& unifier) {
  function = unifier.resolve(function);
  if (function->kind != TypeKind::Function) return std::nullopt;
  std::vector<Type> params;
  for (Type param : function->params()) {
    if (has_open_part(param)) return std::nullopt;
    params.push_back(without_dims(param));
  }
  // The parameters of a returned function count as well: `%m(1)(2)`.
  Type result = unifier.resolve(function->result());
  if (result->kind != TypeKind::Function) return params;
  auto given = settled_params(result, unifier);
  if (!given) return std::nullopt;
  size_t count = result->params().size();
  Type rest = given->size() > count ? given->back() : unit_type();
  given->resize(count);
  params.push_back(function_type(*given, rest));
  return params;
}

}  // namespace quern
