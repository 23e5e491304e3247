#pragma once
// Formats one declaration or statement: its tokens, annotated from the tree, and the resulting layout.
// Internal to frontend/format.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/lexeme.h"
#include "frontend/text/text_layout.h"

namespace quern::format_detail {

/// The separator between a token and the previous one.
enum class Separator : uint8_t {
  Glued,  ///< nothing
  Space,
  Line,      ///< a blank, or a new line if its group is broken
  SoftLine,  ///< nothing, or a new line
  Row,       ///< the same, between the rows of a group (TextLayout::open_rows)
  Fill,      ///< a blank, or a new line if the next item does not fit
  Hard,      ///< a new line; keeps one preceding blank line of the source
};

/// Parts of a layout that begin or end at a token.
enum class Mark : uint8_t {
  Open,
  OpenRows,
  OpenHanging,
  Close,
  Indent,
  DoubleIndent,
  Dedent,
  OpenTight,
  CloseTight
};

constexpr uint32_t kNone = UINT32_MAX;

struct Token {
  std::string_view text;
  Range range;
  LexemeKind kind;
  SyntaxPtr owner;  ///< the innermost node that contains it
  bool first_of_owner;
  uint32_t partner = kNone;        ///< of a bracket: the matching one
  Separator separator;             ///< before it
  uint32_t lines_before;           ///< line ends in the source between it and the preceding comment or token
  bool dropped = false;            ///< a redundant comma or semicolon
  bool comma_when_broken = false;  ///< a closing bracket: write a comma before it if its group is broken
  std::vector<Comment> comments;   ///< between the previous token and this one
  std::vector<Mark> before_separator;  ///< also before comments, unless it closes a bracket
  std::vector<Mark> before, after;

  bool is(std::string_view t) const { return text == t; }
  bool opens() const {
    return kind == LexemeKind::Symbol && (text.back() == '(' || text.back() == '[' || text.back() == '{');
  }
  bool closes() const {
    return kind == LexemeKind::Symbol && (text.back() == ')' || text.back() == ']' || text.back() == '}');
  }
};

/// The tokens of a declaration, with their owners, comments and spacing.
std::vector<Token> tokens_of(std::string_view text, const ParseOutcome& parsed, bool slash_names);
/// Decides where lines may break and what is indented.
void add_structure(std::vector<Token>& tokens, const ParseOutcome& parsed);
/// The declaration in its canonical layout, at column 0; the tokens are those of `text`.
std::string write(std::string_view text, const std::vector<Token>& tokens, std::string_view newline);

}  // namespace quern::format_detail
