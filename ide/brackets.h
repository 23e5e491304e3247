#pragma once
// Brackets and their partners in a text in which anything may stand; those in comments and strings are none.

#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/text/source.h"

namespace quern::ide {

struct BracketPair {
  Range bracket;                 ///< one byte: of `sum[` the last
  std::optional<Range> partner;  ///< nothing where it has none
};

/// The bracket right after an offset, else the one right before it; nothing where neither is one.
std::optional<BracketPair> bracket_at(std::string_view text, uint32_t offset);

/// The first bracket that has no partner.
std::optional<Range> first_unmatched_bracket(std::string_view text);

}  // namespace quern::ide
