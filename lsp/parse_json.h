#pragma once

#include <string_view>

namespace quern::lsp {

/// A message's JSON; a discarded value where it is none. nlohmann's own parser goes character by character, which is
/// a fifteenth of the time in which a long text is opened: here a string's plain parts are taken as they are. What nests
/// deeper than any message, 1,000 times, is refused: each level takes memory.
template <class Json>
Json parse_json(std::string_view text);

}  // namespace quern::lsp
