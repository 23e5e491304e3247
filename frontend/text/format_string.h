#pragma once
// Format strings, the strings of `print`: text, and expressions in braces with a format behind a `:`, as in
// "loss {%l:.4}". Braces that stand for themselves are written twice.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

/// A part of a format string; ranges are those of the text around it.
struct FormatPart {
  enum class Kind : uint8_t {
    Text,
    Value,     ///< an expression in braces
    Unclosed,  ///< what begins as one and goes on to the end of the string
    Stray,     ///< a `}` that closes nothing
  };
  Kind kind;
  Range range;                                 ///< of a value with its braces
  Range expression = {};                       ///< of a value, as it is written: with the string's escapes
  std::optional<Range> format = std::nullopt;  ///< behind the `:`
};

/// The parts of the string whose inside, without quotes, is a range of the text.
std::vector<FormatPart> format_parts(std::string_view text, Range inside);
/// What a part of kind Text says: escapes are resolved, braces single.
std::string label_of(std::string_view part);
/// A label as it is written in a format string: the other way round, but for the escapes.
std::string with_double_braces(std::string_view label);

/// A text as it is written inside of quotes.
std::string as_in_string(const std::string& text);

/// A text without the escapes of the string that it stands in.
struct Unescaped {
  std::string text;
  /// By byte of it, and for its end, where that stands in what was unescaped.
  std::vector<uint32_t> places;
};
Unescaped unescaped(std::string_view inside_of_string);

}  // namespace quern
