#pragma once
// What the kinds of attributes take: `int`, `float[]`, `dtype`, `string?`.

#include <optional>
#include <string>
#include <string_view>

#include "ir/type/static_value.h"

namespace quern {

/// A value given for an attribute, as its declared kind wants it; nothing where it does not fit.
std::optional<StaticValue> fit_attribute(const StaticValue& value, std::string_view kind);
/// What such an attribute takes, for messages: "an integer", "a dtype or None".
std::string describe_attribute_kind(std::string_view kind);

}  // namespace quern
