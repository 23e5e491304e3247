#pragma once
// The formatter of one declaration or statement: its tokens, what the tree says about each, and the layout
// made of both. Internal to frontend/format.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/lexeme.h"
#include "frontend/text/text_layout.h"

namespace quern::format_detail {

/// What stands between a token and the one before it.
enum class Separator : uint8_t {
  Glued,  ///< nothing
  Space,
  Line,      ///< a blank, or a new line where its group is broken
  SoftLine,  ///< nothing, or a new line
  Fill,      ///< a blank, or a new line where the next item does not fit
  Hard,      ///< a new line; one blank line of the source before it stays
};

/// Parts of a layout that begin or end at a token.
enum class Mark : uint8_t { Open, Close, Indent, DoubleIndent, Dedent, OpenTight, CloseTight };

constexpr uint32_t kNone = UINT32_MAX;

struct Token {
  std::string_view text;
  Range range;
  LexemeKind kind;
  SyntaxPtr owner;  ///< the innermost node that it belongs to
  bool first_of_owner;
  uint32_t partner = kNone;        ///< of a bracket: the other one
  Separator separator;             ///< before it
  uint32_t lines_before;           ///< line ends in the source between it and the comment or token before it
  bool dropped = false;            ///< a comma or semicolon that means nothing here
  bool comma_when_broken = false;  ///< a closing bracket: a comma before it where its group is broken
  std::vector<Comment> comments;   ///< between the token before it and this one
  std::vector<Mark> before_separator;  ///< and before comments, unless it closes a bracket
  std::vector<Mark> before, after;

  bool is(std::string_view t) const { return text == t; }
  bool opens() const {
    return kind == LexemeKind::Symbol && (text.back() == '(' || text.back() == '[' || text.back() == '{');
  }
  bool closes() const {
    return kind == LexemeKind::Symbol && (text.back() == ')' || text.back() == ']' || text.back() == '}');
  }
};

/// The tokens of a declaration, with their owners, their comments and how far apart they stand.
std::vector<Token> tokens_of(std::string_view text, const ParseOutcome& parsed, bool slash_names);
/// Decides where lines may end and what is indented.
void add_structure(std::vector<Token>& tokens, const ParseOutcome& parsed);
/// The declaration in its canonical layout, at column 0; `text` is what the tokens are of.
std::string write(std::string_view text, const std::vector<Token>& tokens, std::string_view newline);

}  // namespace quern::format_detail
