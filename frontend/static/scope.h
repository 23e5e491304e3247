#pragma once
// What a declaration can see of the rest of the program. The session implements it with queries, so the
// dependencies of an inference are exactly the answers it requested.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "ir/base/result.h"
#include "ir/expr/expr.h"

namespace quern {

/// A parsed declaration.
struct Declaration {
  uint32_t id = 0;  ///< Origin::declaration of its nodes
  std::string name;
  SyntaxPtr syntax = nullptr;
  std::shared_ptr<const Arena> arena;
  /// The body of a definition with a long body, whose own block is then empty: blocks that are separate
  /// declarations (frontend/parse/body_chunks.h).
  std::vector<const Declaration*> chunks = {};
  friend bool operator==(const Declaration& a, const Declaration& b) {
    return a.id == b.id && a.name == b.name && equal(a.syntax, b.syntax);
  }
};

struct DataField {
  std::string name;  ///< "" without a name
  Type type;
  Place place;
};
struct DataConstructor {
  std::string name;
  uint32_t tag;
  std::vector<DataField> fields;
  uint32_t node;
  const Constructor* interned = nullptr;  ///< as referenced by expressions and values
};
/// A `type` declaration's name and parameters.
struct DataHeader {
  std::vector<Type> params;  ///< as `bind_parameter` takes them
  Type type;                 ///< over params
  /// The parameters' values in one of its types.
  Substitution arguments_of(Type of) const;
  /// Its type for any values of its parameters.
  Scheme scheme() const;
};
/// A resolved `type` declaration.
struct DataDefinition {
  std::string name;
  uint32_t declaration;
  DataHeader header;
  std::vector<DataConstructor> constructors;
  bool is_extern = false;  ///< its values are external and have no constructors
};

/// `type P = t`: another name for a type, over its own parameters.
struct TypeAlias {
  std::vector<Type> params;
  Type type = nullptr;  ///< null while it is being resolved: a self-referential alias
  friend bool operator==(const TypeAlias&, const TypeAlias&) = default;
};

/// The constructor that a name denotes in the type returned by `Scope::data_of_constructor`: an imported one
/// is prefixed by the import's name.
inline const DataConstructor* find_constructor(const DataDefinition& data, std::string_view name) {
  size_t dot = name.rfind('.');
  for (const DataConstructor& c : data.constructors)
    if (c.name == name || (dot != std::string_view::npos && c.name == name.substr(dot + 1))) return &c;
  return nullptr;
}

/// A top-level `let`: the variable (whose type has every `?` opened to a fresh dim) and its place.
struct TopLevelVariable {
  const Variable* variable;
  Place place;
  Scheme scheme = {};  ///< of a function literal, which may be polymorphic
  /// For a function literal that is specialised per rank and dtype: its statement, and the variables visible
  /// there.
  std::shared_ptr<const Declaration> literal = nullptr;
  std::vector<std::shared_ptr<const TopLevelVariable>> captured = {};
};

/// What a definition says of its type without its body.
struct Annotations {
  Scheme scheme;
  std::vector<std::pair<std::string, Dim>> dims;  ///< the scheme's, by the names that the body has for them
  Diagnostics diagnostics;
};

/// The variables that one statement binds, from left to right.
using StatementVariables = std::vector<std::shared_ptr<const TopLevelVariable>>;

struct InstanceRequest;
struct Metadata;
struct Inferred;

/// An instance of an operator, or why there is none.
struct InstanceAnswer {
  std::shared_ptr<const OpInstance> instance;
  Diagnostics diagnostics;  ///< at places in the operator's definition
  bool own = false;         ///< the operator is declared in the requesting module
};

class Scope {
 public:
  virtual ~Scope() = default;
  /// The module whose scope this is, as in `GlobalExpr::module`.
  virtual uint32_t module() const = 0;
  /// The scope of a declaration's own text: that of its module.
  virtual Scope& home(const Declaration& declaration) = 0;
  /// Whether there is a `def @name`. This alone creates no dependency on its body.
  virtual bool has_global(std::string_view name) = 0;
  /// `def @name`.
  virtual const Declaration* global(std::string_view name) = 0;
  /// `op name` or `def name` (a composite operator).
  virtual const Declaration* op(std::string_view name) = 0;
  /// `static @name`.
  virtual const Declaration* static_function(std::string_view name) = 0;
  /// The operator that `infix "symbol" name` declares for a symbol; "" if none does.
  virtual std::string infix(std::string_view symbol) = 0;
  /// `type name`: a data type or an alias.
  virtual const Declaration* type_declaration(std::string_view name) = 0;
  /// The type that `type name` declares, over its own type variables, without resolving its fields (so that
  /// types may refer to each other).
  virtual const DataHeader* data_header(std::string_view type_name) = 0;
  /// The meaning of `type name = …`; null if the name is not an alias.
  virtual const TypeAlias* alias(std::string_view type_name) = 0;
  virtual const DataDefinition* data(std::string_view type_name) = 0;
  /// The declaration of a data type, whatever its name is here.
  virtual const DataDefinition* data_of(Type type) = 0;
  /// The type with a constructor of this name.
  virtual const DataDefinition* data_of_constructor(std::string_view constructor) = 0;
  /// A top-level variable that the current statement can see; null in definitions.
  virtual const TopLevelVariable* variable(std::string_view name) = 0;
  virtual std::shared_ptr<const TopLevelVariable> shared_variable(std::string_view name) = 0;
  /// Whether some top-level statement binds %name (for the diagnostic in definitions).
  virtual bool has_top_level_variable(std::string_view name) = 0;
  /// Whether something before the current statement did not parse and mentions the name: it may have been
  /// intended to bind it.
  virtual bool in_broken_declaration(std::string_view name) = 0;
  /// Whether an unresolved import may have been intended to provide this name (of a definition, an operator,
  /// a type or a constructor): the import is reported, but not the missing name.
  virtual bool in_broken_import(std::string_view name) = 0;
  /// The scheme of @name, inferred if it is not annotated; null if errors leave it without one. Not called
  /// for the members of the group of mutually recursive, unannotated definitions that is being inferred.
  virtual const Scheme* scheme(std::string_view name) = 0;
  /// The annotations of @name if they are complete: then `scheme` does not depend on its body. Null for others, and for
  /// definitions whose calls match a signature.
  virtual const Annotations* annotations(std::string_view name) = 0;
  /// Reports schedules without code in the definition of an operator.
  virtual Diagnostics schedule_problems(const FnExpr& definition) = 0;
  /// From now on `@f{…}`, the request's key, names a definition.
  virtual void specialise(const InstanceRequest& request) = 0;
  /// The same, and returns the definition; null while it is being inferred.
  virtual const Inferred* specialised(const InstanceRequest& request) = 0;
  /// An instance of an operator.
  virtual InstanceAnswer instance(InstanceRequest request) = 0;
  /// The `#[metadata]` of a declaration's file; null if it has none.
  virtual const Metadata* metadata(uint32_t declaration) = 0;
  /// The n of the TVM 0.n that printed a declaration's file, according to its header and metadata; nothing
  /// without a header.
  virtual std::optional<int> tvm(uint32_t declaration) = 0;
  /// Whether a declaration gets warnings about unexpected behaviour: not in the library, nor in files printed
  /// by TVM.
  virtual bool warns_about(uint32_t declaration) = 0;
  /// The header of a data file (for `load` without an annotation), or why it cannot be read.
  virtual Result<Type> file_type(std::string_view path, std::string_view entry) = 0;
  /// All names of a kind, for did-you-mean.
  enum class Names { Globals, Operators, Types, Constructors, Variables };
  virtual std::vector<std::string> names(Names kind) = 0;
  /// Whether the work was cancelled: pending requests may be left undone.
  virtual bool cancelled() { return false; }
};

}  // namespace quern
