#pragma once
// The tokens of a text with their places, for the formatter, which works on the text itself.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern {

enum class LexemeKind : uint8_t {
  Local,       ///< `%x`, `%0`
  Global,      ///< `@f`
  Name,        ///< `x`, `nn.relu`
  Word,        ///< a word of the grammar: `def`, and `where`, which is also a name where no clause is
               ///< possible
  Number,      ///< `7`, `2.5f`
  String,      ///< `"…"`
  Projection,  ///< `.0`
  Symbol,      ///< `(`, `=>`; also `sum[`, which opens a bracket
  Unknown,     ///< a character that begins no token
};

struct Lexeme {
  LexemeKind kind;
  Range range;
};

/// The tokens of one declaration or statement. Comments and blanks are between them.
std::vector<Lexeme> lex(std::string_view text, bool slash_names);

/// The number of leading bytes that form the name of a local variable, as in the grammar's LOCAL without its
/// `%`.
size_t local_name_size(std::string_view text, bool slash_names);

/// Where something that is closed by a character of its own ends, and whether it is closed.
struct TokenEnd {
  size_t end;
  bool closed;
};

/// The end of the comment that begins at a place, excluding its line end; the end of the text if a block comment is
/// unclosed; the place itself if none begins. The text may contain any bytes.
TokenEnd comment_end(std::string_view text, size_t at);

/// The end of the string that begins at a place: after its closing quote, or at the end of its line if it is
/// unclosed. The text may contain any bytes.
TokenEnd string_end(std::string_view text, size_t at);
/// The character denoted by a character after a `\` in a string.
char character_of_escape(char c);

/// A comment, and the line ends around it up to the next comment or token.
struct Comment {
  Range range;  ///< for a line comment, without trailing blanks
  bool to_line_end;
  uint32_t lines_before, lines_after;
};

/// The comments of a text that contains only blanks and comments; ranges start at `offset`.
std::vector<Comment> comments_in(std::string_view text, uint32_t offset);
/// Counts the line ends of a text (LF, CRLF and CR).
uint32_t count_line_ends(std::string_view text);

}  // namespace quern
