#pragma once
// The types of gradients.

#include <span>

#include "frontend/syntax/syntax.h"
#include "ir/type/type.h"

namespace quern {

/// Whether a value has a gradient: it is a tensor of floating-point numbers, or a tuple with one.
bool has_floats(Type type);
/// The type of the gradient of a value: of floating-point tensors their own, `()` for what has none.
Type gradient_type(Type type);
/// Of a clause `gradient (%g, %y) { … }`: a function of the cotangent of the result, and of the result where
/// it has two parameters. Its result is the gradient of the parameter, or a tuple where there are several.
Type gradient_clause_type(std::span<const Type> params, Type result, size_t arity);
/// The `gradient` clause of a declaration; null where it has none.
SyntaxPtr gradient_clause_of(SyntaxPtr declaration);

}  // namespace quern
