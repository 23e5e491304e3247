#pragma once
// Whether two texts of the typed IR are the same program.

#include <optional>
#include <span>
#include <string>

#include "ir/expr/expr.h"

namespace quern {

/// Equal up to the names of what is bound: variables, dims, index variables and type variables correspond one
/// to one. Types, dims, attributes and effects are exact, constants equal by their bits. Origins do not
/// count. What is free corresponds by name.
bool same(ExprPtr a, ExprPtr b);
bool same(const Definition& a, const Definition& b);

/// What the first difference is, for people; nothing where there is none.
std::optional<std::string> difference(ExprPtr a, ExprPtr b);
std::optional<std::string> difference(const Definition& a, const Definition& b);

/// A definition, or a statement with the variable that it binds.
struct ModulePart {
  const Definition* definition;
  const Variable* variable = nullptr;
};
/// Of modules, part by part: definitions have the same names, and what statements bind corresponds whatever
/// it is called.
std::optional<std::string> difference(std::span<const ModulePart> a, std::span<const ModulePart> b);

}  // namespace quern
