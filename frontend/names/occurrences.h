#pragma once
// What each name in a declaration refers to, for navigation and rename.
//
// Scopes are lexical, so a walk over the syntax alone resolves names: this also covers text with type errors,
// and operators whose bodies are typed only at calls. Only a field needs a type, that of its record. Renaming
// tests that inference resolves the same way: tests/frontend/names/rename_test.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/static/scope.h"
#include "frontend/syntax/syntax.h"
#include "frontend/text/source.h"
#include "ir/base/origin.h"

namespace quern {

enum class NameKind : uint8_t {
  Variable,    ///< `%x`: of a parameter, a `let`, a pattern, a graph variable
  Definition,  ///< `@f` of `def @f`
  Operator,    ///< of `op f` and `def f`; a symbol that `infix` declares for one
  Static,      ///< `@f` of `static @f`
  Type,
  Constructor,
  Field,          ///< of a constructor
  Attribute,      ///< a non-tensor parameter of an operator, a definition or a `static` function
  TypeParameter,  ///< in brackets: a dim, a pack, a dtype or a type; in an `op` also at its first use in a
                  ///< type
  Constant,       ///< of a clause `static n = …`
  Index,          ///< of an index expression, a reduction, a family
  Loop,           ///< made by a step of a schedule
  Module,         ///< of `import … as m`
};

/// Where a name is declared: the node that binds it, in its declaration.
struct NameTarget {
  NameKind kind;
  Origin declared;
  friend bool operator==(const NameTarget&, const NameTarget&) = default;
};

/// A name in a declaration's text.
struct Occurrence {
  uint32_t node;
  NameTarget target;
  /// The part of the node's written name (name_range) that refers to it: an imported `@m.f` has two, `m` and
  /// `f`; in a schedule the loop `i0` refers to `i` of `[..i]`.
  Range part;
  bool declares = false;  ///< this is the binding occurrence
  bool symbol = false;    ///< an operator's symbol, `+`
  friend bool operator==(const Occurrence&, const Occurrence&) = default;
};

/// In node order; a node may have several.
using Occurrences = std::vector<Occurrence>;

/// The declarations surrounding the one being resolved. Each function returns where the name is declared, or
/// {} if it is not.
class DeclaredNames {
 public:
  virtual ~DeclaredNames() = default;
  virtual Origin definition(std::string_view name) = 0;
  virtual Origin op(std::string_view name) = 0;
  virtual Origin static_function(std::string_view name) = 0;
  virtual Origin type(std::string_view name) = 0;
  virtual Origin constructor(std::string_view name) = 0;
  /// A variable of an earlier statement, or of an earlier chunk of the same body.
  virtual Origin variable(std::string_view name) = 0;
  /// The operator of a symbol.
  virtual Origin infix(std::string_view symbol) = 0;
  /// A field of the record that is the value of a node of the declaration.
  virtual Origin field(SyntaxPtr record, std::string_view name) = 0;
  /// `import "…" as alias`.
  virtual Origin module(std::string_view alias) = 0;
  /// The names that schedules of an operator's calls may use: its indices and its tensor parameters.
  virtual std::vector<SyntaxPtr> binders(const Origin& op) = 0;
  /// The node of a place returned by one of these; its declaration has no bodies.
  virtual SyntaxPtr node(const Origin& declared) = 0;
};

/// The names of a declaration. `head` is the head of the definition if `declaration` is a chunk of its body,
/// otherwise null.
Occurrences resolve_names(const Declaration& declaration, const Declaration* head, DeclaredNames& names);

}  // namespace quern
