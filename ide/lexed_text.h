#pragma once
// The tokens of arbitrary text: incomplete code, unterminated strings and comments, any bytes.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/lexeme.h"
#include "frontend/text/source.h"

namespace quern::ide {

inline constexpr uint32_t kNoLexeme = UINT32_MAX;

struct LexedText {
  std::string_view text;
  /// Including strings, which end with their line if unterminated; those of `print` are the parts around the code in
  /// their braces.
  std::vector<Lexeme> lexemes;
  std::vector<Range> comments;    ///< also the text before the first declaration, and metadata
  std::vector<uint32_t> partner;  ///< by lexeme: for a bracket its partner, else kNoLexeme

  /// The text of a lexeme; "" past the last one.
  std::string_view word(size_t i) const {
    return i < lexemes.size() ? in_text(lexemes[i].range) : std::string_view();
  }
  std::string_view in_text(Range range) const { return text.substr(range.begin, range.end - range.begin); }
  bool is(size_t i, LexemeKind kind) const { return i < lexemes.size() && lexemes[i].kind == kind; }
  bool is_symbol(size_t i, std::string_view symbol) const {
    return is(i, LexemeKind::Symbol) && word(i) == symbol;
  }
  /// Whether nothing is between a lexeme and the next one.
  bool touches_next(size_t i) const {
    return i + 1 < lexemes.size() && lexemes[i].range.end == lexemes[i + 1].range.begin;
  }
  bool opens(size_t i) const;  ///< `(`, `sum[`
  /// Whether what follows a part of a string is code in its braces.
  bool opens_code(size_t i) const { return is(i, LexemeKind::String) && word(i).ends_with('{'); }
  bool closes(size_t i) const;  ///< `)`
  bool begins_line(size_t i) const;
  /// Whether a word at the start of a line begins a declaration there, whatever brackets are open.
  bool begins_declaration(size_t i) const;
};

LexedText lexed_text(std::string_view text);
/// The tokens of a range of it, which begins and ends between tokens; offsets are those in the whole text.
LexedText lexed_text(std::string_view text, Range window, bool slash_names);

}  // namespace quern::ide
