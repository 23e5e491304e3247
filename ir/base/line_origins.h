#pragma once
// Where the lines of a text that shows expressions come from.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/base/origin.h"

namespace quern {

/// Lines of a text, both included, counted from 0, that show an expression of this origin.
struct LineOrigin {
  uint32_t first, last;
  Origin origin;
};
using LineOrigins = std::vector<LineOrigin>;

/// Adds the origins of a part of a text that begins on `line`.
inline void append(LineOrigins& origins, uint32_t line, const LineOrigins& part) {
  for (const LineOrigin& of : part) origins.push_back({line + of.first, line + of.last, of.origin});
}

inline uint32_t count_line_ends(std::string_view text) {
  return static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

}  // namespace quern
