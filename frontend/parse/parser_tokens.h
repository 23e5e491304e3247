#pragma once
// The tokens of the grammar. Internal to the parser.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

struct ParserToken {
  uint16_t type;  ///< as the grammar numbers them; kEndOfText behind the last one
  Range range;
};
inline constexpr uint16_t kEndOfText = 0;

/// The tokens of a declaration or statement, and the end of the text. A byte that is not valid UTF-8 is an unknown
/// character of its own.
std::vector<ParserToken> tokens_of(std::string_view text, bool slash_names);

}  // namespace quern
