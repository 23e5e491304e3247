#pragma once
// Types of which a part is open, and what is settled of the type that a function is used at.

#include <optional>
#include <vector>

#include "frontend/unify/unifier.h"

namespace quern {

/// Whether a part of the type, or a dtype of it, is unknown; dims may be.
bool has_open_part(Type type);
/// A parameter's type as a copy of a function takes it: every dim an unknown of its own.
Type with_open_dims(Type type, Unifier& unifier);
/// Of a function that is given: what it gives is open, but for the parameters of a further function.
Type with_open_result(Type function, Unifier& unifier);
/// The types that parameters are given, each `?` in place of a dim: what distinguishes copies. Where the
/// result is a function, then also a function type with the parameters of that. Nothing while they are open.
std::optional<std::vector<Type>> settled_params(Type function, Unifier& unifier);

}  // namespace quern
