#pragma once
// Variables known by their names, for texts and patterns: one for each name, so that none is made twice.

#include <string_view>

#include "ir/dim/dim.h"
#include "ir/type/type.h"

namespace quern {

/// The variable of this name. No query, arena or inference makes it as one of its own. Thread-safe.
Dim named_dim(std::string_view name);
Type named_type(std::string_view name);

}  // namespace quern
