#pragma once
// Types with open parts, and the settled part of the type at which a function is used.

#include <optional>
#include <vector>

#include "frontend/unify/unifier.h"

namespace quern {

/// Whether a part of the type, or a dtype of it, is unknown; dims may be.
bool has_open_part(Type type);
/// A parameter's type for a copy of a function: every dim becomes a fresh unknown.
Type with_open_dims(Type type, Unifier& unifier);
/// A function argument's type with its result open, except for the parameters of a returned function.
Type with_open_result(Type function, Unifier& unifier);
/// The parameter types, with `?` for each dim, which distinguish copies. If the result is a function, they
/// include a function type with its parameters. Nothing while they are open.
std::optional<std::vector<Type>> settled_params(Type function, Unifier& unifier);

}  // namespace quern
