#pragma once
// Alignment of the lines of two texts.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::ide {

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// How lines of two texts are compared; `i` indexes the first text, `j` the second.
struct LineRules {
  std::function<bool(size_t i, size_t j)> agree;
  /// Whether a line of the first text matches any number of lines of the second; null if none does.
  std::function<bool(size_t i)> is_any = nullptr;
};

/// A line of both texts, or of only one.
struct AlignedLine {
  char sign;          ///< ` ` in both (or matched by an `is_any` line), `-` in the first, `+` in the second
  size_t first = 0;   ///< position in the first text
  size_t second = 0;  ///< position in the second text
};
struct Alignment {
  size_t changes = 0;  ///< lines of only one text
  std::vector<AlignedLine> lines{};
};

/// The alignment with the fewest changes of texts of `first` and `second` lines. Among several, it pairs lines that
/// agree as early as possible, and puts lines of the first text before those of the second.
Alignment aligned(size_t first, size_t second, const LineRules& rules);

}  // namespace quern::ide
