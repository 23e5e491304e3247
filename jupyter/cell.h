#pragma once
// A cell of a notebook: inputs as the prompt takes them.

#include <string>
#include <string_view>
#include <vector>

namespace quern::jupyter {

/// The inputs of a cell, as if its lines were typed at the prompt.
std::vector<std::string> inputs_of(std::string_view cell);

/// Offsets into UTF-8 as notebooks count: in characters (Unicode code points).
size_t byte_of(std::string_view text, size_t character);
size_t character_of(std::string_view text, size_t byte);

/// The name around a place, with its sigil and its module: `nn.dense`, `%x`, `@f`.
std::string_view name_at(std::string_view text, size_t byte);

}  // namespace quern::jupyter
