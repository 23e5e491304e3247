#pragma once
// The words of the language that are called like operators: `print(…)`, `grad(…)`, `ref(…)`.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace quern {

enum class CalledWord : uint8_t {
#define QUERN_CALLED(name, ...) name,
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED
};

/// Their texts, in the order of the enumeration.
std::span<const std::string_view> called_words();
std::optional<CalledWord> find_called_word(std::string_view text);
/// Whether values may stand in braces in its strings: those that are printed, and names of files.
bool takes_format_strings(std::string_view text);
/// Whether the word takes precedence over a constructor or an operator with this name.
bool comes_first(CalledWord word);

}  // namespace quern
