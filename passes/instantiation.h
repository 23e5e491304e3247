#pragma once

#include <optional>
#include <span>

#include "ir/expr/expr.h"

namespace quern {

/// The dims, types and dtypes of a polymorphic function literal at a use of the type `callee` with such
/// arguments; nothing if they do not determine one of its dims.
std::optional<Substitution> instantiation(const FnExpr& fn, Type callee, std::span<const Type> args);

}  // namespace quern
