#pragma once
// Values as a browser shows them.

#include <string>

#include "ir/value/value.h"

namespace quern::jupyter {

/// An abbreviated table of a large tensor with rows and columns. Empty for values that read better as text.
std::string html_of(const Value& value);

}  // namespace quern::jupyter
