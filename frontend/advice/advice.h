#pragma once
// What to tell about a text that does not parse: from the tokens around the place where the parser gave up to
// one problem in a user's words, with a fix where it is certain. Knows nothing of the parser.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

enum class LexedKind : uint8_t { Local, Graph, Global, Name, Number, String, Symbol, Unknown };

struct LexedToken {
  LexedKind kind;
  std::string_view text;
  Range range;
};

/// Where a parser gave up.
struct SyntaxFailure {
  std::string_view text;              ///< of the declaration
  std::vector<LexedToken> tokens;     ///< all of it, blanks and comments left out
  size_t at = 0;                      ///< the token that did not fit; tokens.size() for the end
  std::vector<std::string> expected;  ///< the words and symbols that could stand there, where that is known
  bool wants_expression = false;
  std::string expectation;  ///< "`)` or `,`": what to say of it; "" where it is too much to tell
};

SyntaxProblem advise(const SyntaxFailure& failure);

/// Whether a `;` between two tokens ends a statement.
bool statement_between(const std::vector<LexedToken>& tokens, size_t from, size_t to);
/// Whether a bracket is open before a token.
bool inside_brackets(const std::vector<LexedToken>& tokens, size_t at);
/// Whether every bracket of the tokens has its partner.
bool brackets_match(const std::vector<LexedToken>& tokens);

}  // namespace quern
