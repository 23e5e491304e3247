#include "frontend/static/attribute_kinds.h"

namespace quern {

std::optional<StaticValue> fit_attribute(const StaticValue& value, std::string_view kind) {
  bool optional = kind.ends_with("?");
  if (optional) kind.remove_suffix(1);
  if (value.is_none()) return optional ? std::optional<StaticValue>(value) : std::nullopt;
  if (kind.ends_with("[]") || kind == "shape") {
    std::string_view item_kind = kind == "shape" ? "dim" : kind.substr(0, kind.size() - 2);
    if (!value.as_list()) {
      auto one = fit_attribute(value, item_kind);
      if (!one) return std::nullopt;
      return StaticValue::list({*one});
    }
    StaticList items;
    for (const StaticValue& v : *value.as_list()) {
      auto item = fit_attribute(v, item_kind);
      if (!item) return std::nullopt;
      items.push_back(*item);
    }
    return StaticValue::list(std::move(items));
  }
  if (kind == "int") return value.as_int() ? std::optional(value) : std::nullopt;
  if (kind == "dim") return value.as_dim() ? std::optional(value) : std::nullopt;
  if (kind == "bool") return value.as_bool() ? std::optional(value) : std::nullopt;
  if (kind == "string") return value.as_string() ? std::optional(value) : std::nullopt;
  if (kind == "float") {
    if (value.as_float()) return value;
    return value.as_int() ? std::optional(StaticValue(static_cast<double>(*value.as_int()))) : std::nullopt;
  }
  if (kind == "dtype") {
    if (value.as_dtype()) return value;
    if (!value.as_string()) return std::nullopt;
    if (value.as_string()->empty() || *value.as_string() == "void") return StaticValue();  // an absent dtype
    auto dtype = parse_dtype(*value.as_string());
    return dtype ? std::optional(StaticValue(*dtype)) : std::nullopt;
  }
  return value;
}

std::string describe_attribute_kind(std::string_view kind) {
  bool optional = kind.ends_with("?");
  if (optional) kind.remove_suffix(1);
  std::string text = kind == "int[]"    ? "a list of integers"
                     : kind == "dim[]"  ? "a list of integers or dims"
                     : kind == "int"    ? "an integer"
                     : kind == "float"  ? "a number"
                     : kind == "bool"   ? "True or False"
                     : kind == "string" ? "a string"
                     : kind == "dtype"  ? "a dtype"
                     : kind == "shape"  ? "a shape"
                     : kind == "dim"    ? "an integer or a dim"
                     : kind == "any"    ? "a value"
                                        : "a " + std::string(kind);
  if (!optional) return text;
  return kind == "dim" ? "an integer, a dim or None" : text + " or None";
}

}  // namespace quern
