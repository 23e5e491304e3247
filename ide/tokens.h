#pragma once
// The kinds of the tokens of a text, for highlighting: from the text alone and the names that a module declares.

#include <cstdint>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

enum class TokenKind : uint8_t {
  Comment,
  Keyword,  ///< words of the grammar; `True`, `False` and `None` too
  Number,
  String,
  Variable,    ///< `%x`, `%0`
  Definition,  ///< `@f` of `def @f`
  Operator,    ///< `nn.relu`, `grad`; scalar functions in index expressions
  Constructor,
  Type,  ///< types, dtypes and kinds of attributes
  Field,
  Attribute,      ///< a non-tensor parameter, and its name in a call
  TypeParameter,  ///< a dim, a pack, a dtype or a type of a signature
  Index,          ///< of an index expression or a reduction; a loop of a schedule
  Static,         ///< `@f` of `static @f`, `static n = …`, functions of the compile-time language
  Module,         ///< of `import … as m`
  Symbol,
  Bracket,  ///< also the last byte of `sum[`
  Unknown,  ///< bytes that begin no token, and a name that may be anything
};

struct Token {
  Range range;
  TokenKind kind;
  /// A variable, a definition, an operator, a constructor or a type that neither the text nor the module
  /// declares; a dim or a dtype that does not exist; an argument's name that the callee does not have.
  bool unresolved = false;
  friend bool operator==(const Token&, const Token&) = default;
};

/// The tokens of one input, which is not in the session, in text order. It may contain any bytes; comments and strings
/// end with the text at the latest. Blanks are not tokens.
std::vector<Token> tokens(Session& session, ModuleId module, std::string_view text);
/// Those of a source of the session.
std::vector<Token> tokens(Session& session, SourceId source);
/// Those of a part of it, which begins and ends between declarations (ide/window.h). Names that other parts bind count
/// as unresolved.
std::vector<Token> tokens(Session& session, SourceId source, Range window);

}  // namespace quern::ide
