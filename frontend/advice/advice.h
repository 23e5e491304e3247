#pragma once
// Advice on a text that does not parse: turns the tokens around the point where the parser gave up into one
// problem in a user's words, with a fix if it is certain. Independent of the parser.

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

/// The point where a parser gave up.
struct SyntaxFailure {
  std::string_view text;              ///< of the declaration
  std::vector<LexedToken> tokens;     ///< all tokens, without blanks and comments
  size_t at = 0;                      ///< the unexpected token; tokens.size() for the end
  std::vector<std::string> expected;  ///< the words and symbols allowed there, if known
  bool wants_expression = false;
  std::string expectation;  ///< "`)` or `,`": how to describe it; "" if it is too long
};

SyntaxProblem advise(const SyntaxFailure& failure);

/// Whether a `;` between two tokens ends a statement.
bool statement_between(const std::vector<LexedToken>& tokens, size_t from, size_t to);
/// Whether a bracket is open before a token.
bool inside_brackets(const std::vector<LexedToken>& tokens, size_t at);
/// Whether all brackets of the tokens match.
bool brackets_match(const std::vector<LexedToken>& tokens);

}  // namespace quern
