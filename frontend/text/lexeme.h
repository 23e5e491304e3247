#pragma once
// The tokens of a text with their places, for what works on the text itself: the formatter.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

enum class LexemeKind : uint8_t {
  Local,       ///< `%x`, `%0`
  Global,      ///< `@f`
  Name,        ///< `x`, `nn.relu`
  Word,        ///< a word of the grammar: `def`, and `where`, which is a name too where no clause can stand
  Number,      ///< `7`, `2.5f`
  String,      ///< `"…"`
  Projection,  ///< `.0`
  Symbol,      ///< `(`, `=>`; also `sum[`, which opens a bracket
  Unknown,     ///< what no token begins with
};

struct Lexeme {
  LexemeKind kind;
  Range range;
};

/// The tokens of one declaration or statement. Comments and blanks are between them.
std::vector<Lexeme> lex(std::string_view text, bool slash_names);

/// How many bytes of the text are the name of a local variable, as LOCAL of the grammar has it without its
/// `%`.
size_t local_name_size(std::string_view text, bool slash_names);

/// Where the comment that begins at a place ends, its own line end excluded; the place itself where none
/// begins. Any bytes may stand in the text.
size_t comment_end(std::string_view text, size_t at);

/// Where the string that begins at a place ends: behind its closing quote, or at the end of its line where
/// nothing closes it. Any bytes may stand in the text.
struct StringEnd {
  size_t end;
  bool closed;
};
StringEnd string_end(std::string_view text, size_t at);
/// What a character behind a `\` in a string stands for.
char character_of_escape(char c);

/// A comment, and the line ends around it up to the next comment or token.
struct Comment {
  Range range;  ///< a line comment's without the blanks at its end
  bool to_line_end;
  uint32_t lines_before, lines_after;
};

/// The comments of a text that holds blanks and comments alone; ranges start at `offset`.
std::vector<Comment> comments_in(std::string_view text, uint32_t offset);
/// The line ends of a text (LF, CRLF and CR).
uint32_t count_line_ends(std::string_view text);

}  // namespace quern
