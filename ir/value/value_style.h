#pragma once
// How values are displayed, and how a format such as `8.3f` changes it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

enum class Notation : uint8_t {
  General,     ///< without an exponent if that is short
  Fixed,       ///< 0.001
  Scientific,  ///< 1e-03
};

/// Alignment of a number in its columns.
enum class Align : uint8_t { Right, Left, Centre };

struct ValueStyle {
  int width = 100;          ///< columns of a line
  int64_t threshold = 100;  ///< elements: larger tensors and lists are elided
  int64_t edge_items = 3;   ///< kept at either end of an elided axis, at least 1
  bool whole = false;       ///< no elision or wrapping, whatever the threshold
  /// Digits of a float: significant ones in General, otherwise those after the point. By default the fewest
  /// that read back the same (General), or 6.
  std::optional<int> precision = std::nullopt;
  Notation notation = Notation::General;
  int number_width = 0;  ///< columns to which a number is padded
  Align number_align = Align::Right;
  bool heading = true;    ///< dtype, shape and the like in front of values
  bool as_built = false;  ///< lists and trees print as their constructors
};

/// For a line of a listing or a message: anything of up to a few pages is on one line, as constructors.
constexpr ValueStyle on_one_line(int64_t threshold) {
  return {.width = 1 << 14, .threshold = threshold, .as_built = true};
}

/// The style changed by a format, `[<|^|>][width][.precision][e|f|g]`; nothing if it is not a format. Neither
/// number may exceed 100.
std::optional<ValueStyle> with_format(ValueStyle style, std::string_view format);
/// Whether it sets something that applies only to floats: digits or notation.
constexpr bool is_of_floats(const ValueStyle& style) {
  return style.precision || style.notation != Notation::General;
}

}  // namespace quern
