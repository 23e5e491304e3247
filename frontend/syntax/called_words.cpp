#include "frontend/syntax/called_words.h"

#include <algorithm>

namespace quern {

namespace {

enum class Turn : uint8_t { First, Last };

constexpr std::string_view kTexts[] = {
#define QUERN_CALLED(name, text, turn, ...) text,
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED
};
constexpr Turn kTurns[] = {
#define QUERN_CALLED(name, text, turn, ...) Turn::turn,
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED
};

}  // namespace

std::span<const std::string_view> called_words() { return kTexts; }

std::optional<CalledWord> find_called_word(std::string_view text) {
  const auto* found = std::ranges::find(kTexts, text);
  if (found == std::end(kTexts)) return std::nullopt;
  return static_cast<CalledWord>(found - std::begin(kTexts));
}

bool comes_first(CalledWord word) { return kTurns[static_cast<size_t>(word)] == Turn::First; }

bool takes_format_strings(std::string_view text) {
  const auto word = find_called_word(text);
  return word == CalledWord::Print || word == CalledWord::Progress || word == CalledWord::Load ||
         word == CalledWord::Save || word == CalledWord::Restore;
}

}  // namespace quern
