#pragma once
// What each name in a declaration stands for, as navigation and rename need it.
//
// Scopes are lexical, so names are resolved by a walk over the syntax alone: text with type errors, and
// operators whose bodies are typed only where they are called, have their answers too. Types are asked for
// in one place, for the record that a field is read from. That inference resolves the same way is tested by
// renaming: tests/frontend/names/rename_test.cpp.

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
  Attribute,      ///< a parameter of an operator, a definition or a `static` function that is no tensor
  TypeParameter,  ///< in brackets: a dim, a pack, a dtype or a type; in an `op` also where a type first has it
  Constant,       ///< of a clause `static n = …`
  Index,          ///< of an index expression, a reduction, a family
  Loop,           ///< that a step of a schedule makes
  Module,         ///< of `import … as m`
};

/// Where a name is declared: the node that binds it, in its declaration.
struct NameTarget {
  NameKind kind;
  Origin declared;
  friend bool operator==(const NameTarget&, const NameTarget&) = default;
};

/// A name that stands in a declaration's text.
struct Occurrence {
  uint32_t node;
  NameTarget target;
  /// The bytes of the node's written name (name_range) that stand for it: an imported `@m.f` is two, `m` and
  /// `f`; in a schedule the loop `i0` is `i` of `[..i]`.
  Range part;
  bool declares = false;  ///< it is what binds the name
  bool symbol = false;    ///< an operator's symbol, `+`
  friend bool operator==(const Occurrence&, const Occurrence&) = default;
};

/// In the order of the nodes, of which one may have several.
using Occurrences = std::vector<Occurrence>;

/// The declarations around the one whose names are resolved. Each answer is where the name is declared, or
/// {} for a name that nothing declares.
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
  /// A field of the record that a node of the declaration has as its value.
  virtual Origin field(SyntaxPtr record, std::string_view name) = 0;
  /// `import "…" as alias`.
  virtual Origin module(std::string_view alias) = 0;
  /// What schedules of an operator's calls may name: its indices and its parameters that are tensors.
  virtual std::vector<SyntaxPtr> binders(const Origin& op) = 0;
  /// The node of a place that one of these answered, without the bodies of its declaration.
  virtual SyntaxPtr node(const Origin& declared) = 0;
};

/// The names of a declaration. `head`: of a chunk of a long body, the head of its definition; else null.
Occurrences resolve_names(const Declaration& declaration, const Declaration* head, DeclaredNames& names);

}  // namespace quern
