#pragma once
// Whether two texts of the typed IR are the same program.

#include <optional>
#include <span>
#include <string>

#include "ir/expr/expr.h"

namespace quern {

/// Alpha-equivalence: bound variables, dims, index variables and type variables correspond one to one. Types,
/// dims, attributes and effects must match exactly, constants bit by bit. Origins do not count. Free names
/// correspond by name.
bool same(ExprPtr a, ExprPtr b);
bool same(const Definition& a, const Definition& b);

/// A description of the first difference; nothing if there is none.
std::optional<std::string> difference(ExprPtr a, ExprPtr b);
std::optional<std::string> difference(const Definition& a, const Definition& b);

/// A definition, or a statement with the variable that it binds.
struct ModulePart {
  const Definition* definition;
  const Variable* variable = nullptr;
};
/// Compares modules part by part: definitions have the same names; variables bound by statements correspond,
/// whatever their names.
std::optional<std::string> difference(std::span<const ModulePart> a, std::span<const ModulePart> b);

}  // namespace quern
