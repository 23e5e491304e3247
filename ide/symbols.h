#pragma once
// What sources declare, as outlines and searches list it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ide/candidates.h"
#include "session/session.h"

namespace quern::ide {

enum class SymbolKind : uint8_t {
  Import,
  Function,  ///< `def @f`, `static @f`, a variable with a function literal
  Operator,  ///< also a symbol that `infix` declares
  Record,    ///< a type with one constructor
  Cases,     ///< one with several
  Alias,
  ExternType,
  Constructor,
  Field,
  Variable,  ///< also a statement that binds none
  Attribute,
  Constant,
  Test,
};

struct Symbol {
  std::string name;  ///< with its sigil
  SymbolKind kind;
  std::string detail;  ///< its type, or how it is called; may be empty
  Range range;
  Range name_range;  ///< in `range`; empty where no name stands
  std::vector<Symbol> children;
};

/// The declarations of a source and what they have inside: constructors and fields, parameters, and what bodies
/// bind. What does not parse is what its first words say. Types that are not written are inferred, but for
/// those of long texts.
std::vector<Symbol> symbols(Session& session, SourceId source);
/// A declaration without what it has inside. A statement without a name has its first line for one.
Symbol symbol_of(Session& session, DeclarationId declaration);

/// A declaration of a text, or a constructor, whose name goes with a query.
struct FoundSymbol {
  std::string name;
  SymbolKind kind;
  NameMatch match;
  Range range;            ///< of the name
  std::string container;  ///< of a constructor its type
};
/// In the order of the text, by its first words alone; with "" all of them.
std::vector<FoundSymbol> find_symbols(std::string_view text, std::string_view query);

}  // namespace quern::ide
