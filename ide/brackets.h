#pragma once
// Matching brackets in arbitrary text; those in comments and strings do not count.

#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/text/source.h"

namespace quern::ide {

struct BracketPair {
  Range bracket;                 ///< one byte: the last one of `sum[`
  std::optional<Range> partner;  ///< nothing if unmatched
};

/// The bracket right after an offset, else the one right before it; nothing where neither is one.
std::optional<BracketPair> bracket_at(std::string_view text, uint32_t offset);

}  // namespace quern::ide
