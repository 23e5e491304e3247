#pragma once
// The blanks that a line begins with, as a text is typed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/text/source.h"

namespace quern::ide {

struct Indentation {
  Range blanks;  ///< those that the line begins with
  std::string text;
};

/// How the line of an offset is to begin: two blanks further than the line of the bracket that is open
/// before it, and as that line where it begins with the partner. Nothing in comments and strings, and where
/// it begins so.
std::optional<Indentation> indentation_of_line(std::string_view text, uint32_t offset);

}  // namespace quern::ide
