#pragma once
// Which lines of two texts belong together.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::ide {

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// How lines of two texts are compared; `i` counts those of the first, `j` those of the second.
struct LineRules {
  std::function<bool(size_t i, size_t j)> agree;
  /// Whether a line of the first text stands for any number of lines of the second; null where none does.
  std::function<bool(size_t i)> is_any = nullptr;
};

/// A line of both texts, or of one of them alone.
struct AlignedLine {
  char sign;  ///< ` ` of both (or one that a line for any stands for), `-` of the first, `+` of the second
  size_t first = 0;   ///< where the first text is
  size_t second = 0;  ///< where the second text is
};
struct Alignment {
  size_t changes = 0;  ///< lines that are of one text alone
  std::vector<AlignedLine> lines{};
};

/// The alignment with the fewest changes of texts of `first` and `second` lines. Where there are several, lines that
/// agree are paired as early as they can be, and lines of the first text come before those of the second.
Alignment aligned(size_t first, size_t second, const LineRules& rules);

}  // namespace quern::ide
