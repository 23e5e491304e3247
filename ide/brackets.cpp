#include "ide/brackets.h"

#include <algorithm>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

// One byte: the last one of `sum[`.
Range bracket_of(const LexedText& text, size_t lexeme) {
  const uint32_t end = text.lexemes[lexeme].range.end;
  return {end - 1, end};
}

}  // namespace

std::optional<BracketPair> bracket_at(std::string_view text, uint32_t offset) {
  const LexedText lexed = lexed_text(text);
  // The lexemes around the offset: the one that ends after it, and the one before that.
  const auto after = std::partition_point(lexed.lexemes.begin(), lexed.lexemes.end(),
                                          [&](const Lexeme& lexeme) { return lexeme.range.end <= offset; });
  const auto at = static_cast<size_t>(after - lexed.lexemes.begin());
  for (const size_t lexeme : {at, at - 1}) {
    if (lexeme >= lexed.lexemes.size() || !(lexed.opens(lexeme) || lexed.closes(lexeme))) continue;
    const Range bracket = bracket_of(lexed, lexeme);
    if (bracket.begin != offset && bracket.end != offset) continue;
    BracketPair pair{bracket, {}};
    if (lexed.partner[lexeme] != kNoLexeme) pair.partner = bracket_of(lexed, lexed.partner[lexeme]);
    return pair;
  }
  return std::nullopt;
}

}  // namespace quern::ide
