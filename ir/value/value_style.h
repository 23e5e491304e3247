#pragma once
// How values are shown to people, and what of it a format such as `8.3f` says.

#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

enum class Notation : uint8_t {
  General,     ///< without an exponent where that is short
  Fixed,       ///< 0.001
  Scientific,  ///< 1e-03
};

/// Where in its columns a number stands.
enum class Align : uint8_t { Right, Left, Centre };

struct ValueStyle {
  int width = 100;          ///< columns of a line
  int64_t threshold = 100;  ///< elements: a tensor or a list of more is elided
  int64_t edge_items = 3;   ///< what is kept at either end of an elided axis, at least 1
  bool whole = false;       ///< nothing is left out: rows are as long as they are, whatever the threshold
  /// Digits of a float: significant ones, in the other notations those after the point. Without it the fewest
  /// that read back the same (General), or 6.
  std::optional<int> precision = std::nullopt;
  Notation notation = Notation::General;
  int number_width = 0;  ///< columns that a number is padded to
  Align number_align = Align::Right;
  bool heading = true;    ///< dtype, shape and the like in front of values
  bool as_built = false;  ///< lists and trees as the constructors that they are made of
};

/// For a line of a listing or of a message: whatever fits in some pages is on one line, as constructors.
constexpr ValueStyle on_one_line(int64_t threshold) {
  return {.width = 1 << 14, .threshold = threshold, .as_built = true};
}

/// The style with what a format says, `[<|^|>][width][.precision][e|f|g]`; nothing where it is no format.
/// Neither number may be above 100.
std::optional<ValueStyle> with_format(ValueStyle style, std::string_view format);
/// Whether it says something of floats alone: of their digits, or of the notation.
constexpr bool is_of_floats(const ValueStyle& style) {
  return style.precision || style.notation != Notation::General;
}

}  // namespace quern
