#pragma once
// The `?` of types: where they stand, and dims of their own in their place.

#include <string_view>
#include <vector>

#include "ir/type/type.h"

namespace quern {

/// Whether a part of the type says `?`: values of several types go there.
bool leaves_dims_open(Type type);
/// Whether a `?` stands in the shape of a value of the type.
bool has_open_dim(Type type);
/// Every `?` in a type as a rigid dim of its own, named after `name`.
Type open_any(Type type, std::string_view name, std::vector<Dim>* opened = nullptr);

}  // namespace quern
