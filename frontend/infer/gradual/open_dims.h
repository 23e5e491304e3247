#pragma once
// Finds the `?`s of types, and replaces them by fresh dims.

#include <string_view>
#include <vector>

#include "ir/type/type.h"

namespace quern {

/// Whether a part of the type is `?`, so that it accepts values of several types.
bool leaves_dims_open(Type type);
/// Whether the shape of a value of the type has a `?`.
bool has_open_dim(Type type);
/// The type with every `?` replaced by a fresh rigid dim, named after `name`.
Type open_any(Type type, std::string_view name, std::vector<Dim>* opened = nullptr);

}  // namespace quern
