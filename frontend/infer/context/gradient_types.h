#pragma once
// The types of gradients.

#include <span>

#include "frontend/syntax/syntax.h"
#include "ir/type/type.h"

namespace quern {

/// Whether a value has a gradient: it is a tensor of floating-point numbers, or a tuple with one.
bool has_floats(Type type);
/// The type of a value's gradient: a floating-point tensor's own type, and a data type's, in which what has no
/// gradient is 0; `()` for other parts without one.
Type gradient_type(Type type);
/// The type of a clause `gradient (%g, %y) { … }`: a function of the result's cotangent and, with two
/// parameters, of the result. It returns the gradient of the parameter, or a tuple if there are several.
Type gradient_clause_type(std::span<const Type> params, Type result, size_t arity);
/// The `gradient` clause of a declaration; null if it has none.
SyntaxPtr gradient_clause_of(SyntaxPtr declaration);

}  // namespace quern
