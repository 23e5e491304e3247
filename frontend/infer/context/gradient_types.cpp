#include "frontend/infer/context/gradient_types.h"

#include <algorithm>
#include <vector>

namespace quern {

bool has_floats(Type type) {
  if (type->is_tensor()) return type->dtype.is_float();
  return type->kind == TypeKind::Tuple && std::ranges::any_of(type->args, has_floats);
}

Type gradient_type(Type type) {
  if (type->is_tensor()) return type->dtype.is_float() ? type : unit_type();
  if (type->kind == TypeKind::Data) return type;
  if (type->kind != TypeKind::Tuple) return unit_type();
  std::vector<Type> fields;
  for (Type field : type->args) fields.push_back(gradient_type(field));
  return tuple_type(fields);
}

Type gradient_clause_type(std::span<const Type> params, Type result, size_t arity) {
  // A clause applies to floating-point numbers, so an unknown dtype counts as one.
  auto of = [](Type type) {
    return type->is_tensor() && type->dtype.is_infer() ? type : gradient_type(type);
  };
  std::vector<Type> gradients, given{result->kind == TypeKind::Infer ? result : of(result), result};
  for (Type param : params) gradients.push_back(of(param));
  given.resize(arity);
  return function_type(given, gradients.size() == 1 ? gradients[0] : tuple_type(gradients));
}

SyntaxPtr gradient_clause_of(SyntaxPtr declaration) {
  bool has_clauses = declaration->is(SyntaxKind::Def) || declaration->is(SyntaxKind::Op) ||
                     declaration->is(SyntaxKind::ExternOp);
  for (SyntaxPtr clause : has_clauses ? declaration->child(3)->children : std::span<const SyntaxPtr>())
    if (clause->is(SyntaxKind::Gradient)) return clause;
  return nullptr;
}

}  // namespace quern
