#pragma once
// The cells of a notebook, split into inputs for the prompt.

#include <string>
#include <string_view>
#include <vector>

namespace quern::jupyter {

/// Splits a cell into inputs, as if its lines were typed at the prompt.
std::vector<std::string> inputs_of(std::string_view cell);

/// Converts between offsets into UTF-8 and the offsets of notebooks, in Unicode code points.
size_t byte_of(std::string_view text, size_t character);
size_t character_of(std::string_view text, size_t byte);

/// The name around a place, with its sigil and its module: `nn.dense`, `%x`, `@f`.
std::string_view name_at(std::string_view text, size_t byte);
/// The `(` around a byte that nothing closes before it; 0 if there is none.
size_t open_bracket_before(std::string_view text, size_t byte);

}  // namespace quern::jupyter
