#pragma once
// Values as a browser shows them.

#include <string>

#include "ir/value/value.h"

namespace quern::jupyter {

/// A table of a large tensor with rows and columns, parts of which are left out. Empty for what is better read as text.
std::string html_of(const Value& value);

}  // namespace quern::jupyter
