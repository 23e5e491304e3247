#pragma once
// The symbols that sources declare, for outlines and searches.

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
  std::string detail;  ///< its type, or its signature; may be empty
  Range range;
  Range name_range;  ///< in `range`; empty if there is no name
  std::vector<Symbol> children;
};

/// The declarations of a source with their children: constructors and fields, parameters, and what bodies bind. Text
/// that does not parse is classified by its first words. Omitted types are inferred, except in long texts.
std::vector<Symbol> symbols(Session& session, SourceId source);
/// A declaration without its children. The name of an unnamed statement is its first line.
Symbol symbol_of(Session& session, DeclarationId declaration);

/// A declaration of a text, or a constructor, whose name matches a query.
struct FoundSymbol {
  std::string name;
  SymbolKind kind;
  NameMatch match;
  Range range;            ///< of the name
  std::string container;  ///< for a constructor, its type
};
/// In text order, from the first words of declarations only; all of them for "".
std::vector<FoundSymbol> find_symbols(std::string_view text, std::string_view query);

}  // namespace quern::ide
