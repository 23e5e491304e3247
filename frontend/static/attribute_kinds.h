#pragma once
// The attribute kinds: `int`, `float[]`, `dtype`, `string?`.

#include <optional>
#include <string>
#include <string_view>

#include "ir/type/static_value.h"

namespace quern {

/// A given attribute value converted to the declared kind; nothing if it does not fit.
std::optional<StaticValue> fit_attribute(const StaticValue& value, std::string_view kind);
/// Describes the accepted values, for messages: "an integer", "a dtype or None".
std::string describe_attribute_kind(std::string_view kind);

}  // namespace quern
