#include "frontend/infer/gradual/open_dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/unify/gradual.h"

namespace quern {

bool leaves_dims_open(Type type) {
  return std::ranges::any_of(type->dims, [](Dim d) { return d->has_any; }) ||
         std::ranges::any_of(type->args, leaves_dims_open);
}

bool has_open_dim(Type type) {
  bool found = false;
  for_each_value_dim(type, [&](Dim dim) { found |= dim->has_any; });
  return found;
}

Type open_any(Type type, std::string_view name, std::vector<Dim>* opened) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    bool any = false;
    for (size_t i = 0; i < type->dims.size(); ++i) {
      Dim d = type->dims[i];
      if (d->kind == DimKind::Any) {
        d = dim_opened(fmt::format("{}.{}", name, i));
        if (opened) opened->push_back(d);
        any = true;
      }
      dims.push_back(d);
    }
    return any ? tensor_type(dims, type->dtype) : type;
  }
  if (type->kind != TypeKind::Tuple) return type;
  std::vector<Type> fields;
  for (size_t i = 0; i < type->args.size(); ++i)
    fields.push_back(open_any(type->args[i], fmt::format("{}.{}", name, i), opened));
  return tuple_type(fields);
}

}  // namespace quern
