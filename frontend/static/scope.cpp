#include "frontend/static/scope.h"

#include <algorithm>

namespace quern {

Substitution DataHeader::arguments_of(Type of) const {
  Substitution arguments;
  for (size_t i = 0; i < std::min(params.size(), of->args.size()); ++i)
    bind_parameter(arguments, params[i], of->args[i]);
  return arguments;
}

Scheme DataHeader::scheme() const {
  Scheme scheme{{}, {}, type};
  for (Type param : params) {
    if (param->kind == TypeKind::Dim)
      scheme.dim_vars.push_back(param->dims[0]);
    else if (param->is_tensor())
      scheme.dtype_vars.emplace_back(param->dtype, DTypeClass::Any);
    else
      scheme.type_vars.push_back(param);
  }
  return scheme;
}

}  // namespace quern
