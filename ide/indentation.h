#pragma once
// Indentation of a line while a text is typed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/text/source.h"

namespace quern::ide {

struct Indentation {
  Range blanks;  ///< the current ones at the beginning of the line
  std::string text;
};

/// The indentation of the line of an offset: two blanks more than the line of the open bracket before it, or the same
/// if it begins with the closing bracket. Nothing in comments and strings, or if the line already has it.
std::optional<Indentation> indentation_of_line(std::string_view text, uint32_t offset);

}  // namespace quern::ide
