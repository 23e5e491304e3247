#pragma once
// Format strings, the strings of `print`: text, and expressions in braces with a format after a `:`, as in
// "loss {%l:.4}". Literal braces are doubled.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

/// A part of a format string; ranges refer to the enclosing text.
struct FormatPart {
  enum class Kind : uint8_t {
    Text,
    Value,     ///< an expression in braces
    Unclosed,  ///< begins as a value and runs to the end of the string
    Stray,     ///< an unmatched `}`
  };
  Kind kind;
  Range range;                                 ///< of a value, including its braces
  Range expression = {};                       ///< of a value, as written: with the string's escapes
  std::optional<Range> format = std::nullopt;  ///< after the `:`
};

/// The parts of the string whose contents, without quotes, are a range of the text.
std::vector<FormatPart> format_parts(std::string_view text, Range inside);
/// The text of a part of kind Text: escapes resolved, braces single.
std::string label_of(std::string_view part);
/// A label as written in a format string: the inverse, except for escapes.
std::string with_double_braces(std::string_view label);

/// A text as written inside quotes.
std::string as_in_string(const std::string& text);

/// A text with the escapes of its string resolved.
struct Unescaped {
  std::string text;
  /// For each byte of the text, and for its end, the position in the escaped text.
  std::vector<uint32_t> places;
};
Unescaped unescaped(std::string_view inside_of_string);

}  // namespace quern
