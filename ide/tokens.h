#pragma once
// What each token of a text is, for colours: by a walk over the text alone and the names that a module
// declares.

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
  Operator,    ///< `nn.relu`, `grad`; in index expressions functions of single elements
  Constructor,
  Type,  ///< types, dtypes and kinds of attributes
  Field,
  Attribute,      ///< a parameter that is no tensor, and its name in a call
  TypeParameter,  ///< a dim, a pack, a dtype or a type of a signature
  Index,          ///< of an index expression or a reduction; a loop of a schedule
  Static,         ///< `@f` of `static @f`, `static n = …`, functions of the compile-time language
  Module,         ///< of `import … as m`
  Symbol,
  Bracket,  ///< also the last byte of `sum[`
  Unknown,  ///< what no token begins with, and a name that may be anything
};

struct Token {
  Range range;
  TokenKind kind;
  /// A variable, a definition, an operator, a constructor or a type that neither the text nor the module
  /// declares.
  bool unresolved = false;
  friend bool operator==(const Token&, const Token&) = default;
};

/// The tokens of one input, which is not in the session, in the order of the text. Any bytes may stand in it;
/// comments and strings end where the text does at the latest. Blanks are no tokens.
std::vector<Token> tokens(Session& session, ModuleId module, std::string_view text);
/// Those of a source of the session.
std::vector<Token> tokens(Session& session, SourceId source);
/// Those of a part of it, which begins and ends between declarations (ide/window.h). What other parts bind counts as
/// unresolved.
std::vector<Token> tokens(Session& session, SourceId source, Range window);

}  // namespace quern::ide
