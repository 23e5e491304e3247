#include "ir/type/row_types.h"

#include <algorithm>
#include <vector>

namespace quern {

bool is_row_type(Type type) {
  return type->is_tensor() || (type->kind == TypeKind::Tuple && std::ranges::all_of(type->args, is_row_type));
}

Type rows_type(Type row, Dim extent) {
  if (row->is_tensor()) {
    std::vector<Dim> dims{extent};
    dims.insert(dims.end(), row->dims.begin(), row->dims.end());
    return tensor_type(dims, row->dtype);
  }
  std::vector<Type> fields;
  for (Type field : row->args) fields.push_back(rows_type(field, extent));
  return tuple_type(fields);
}

Type row_type(Type rows) {
  if (rows->is_tensor())
    return rows->dims.empty() ? nullptr
                              : tensor_type({rows->dims.begin() + 1, rows->dims.end()}, rows->dtype);
  if (rows->kind != TypeKind::Tuple) return nullptr;
  std::vector<Type> fields;
  for (Type field : rows->args) {
    fields.push_back(row_type(field));
    if (!fields.back()) return nullptr;
  }
  return tuple_type(fields);
}

Dim row_count(Type rows) {
  if (rows->is_tensor()) return rows->dims.empty() ? nullptr : rows->dims[0];
  if (rows->kind != TypeKind::Tuple) return nullptr;
  for (Type field : rows->args)
    if (Dim count = row_count(field)) return count;
  return nullptr;
}

}  // namespace quern
