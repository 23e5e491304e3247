#pragma once
// What a declaration can see of the rest of the program. The session supplies it; each question is a query
// there, so the dependencies of an inference are just the answers it asked for.

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
  /// Of a definition with a long body, whose own block is then empty: its body, in blocks that are
  /// declarations of their own (frontend/parse/body_chunks.h).
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
  const Constructor* interned = nullptr;  ///< what expressions and values name it by
};
/// A `type` declaration's name and parameters.
struct DataHeader {
  std::vector<Type> type_vars;
  Type type;  ///< over its own type_vars
};
/// A `type` declaration, resolved.
struct DataDefinition {
  std::string name;
  uint32_t declaration;
  DataHeader header;
  std::vector<DataConstructor> constructors;
  bool is_extern = false;  ///< its values come from outside and have no constructors
};

/// `type P = t`: another name for a type, over parameters of its own.
struct TypeAlias {
  std::vector<Type> params;
  Type type = nullptr;  ///< null while it is being resolved: an alias that is defined by itself
  friend bool operator==(const TypeAlias&, const TypeAlias&) = default;
};

/// The constructor that a name means in the type that `Scope::data_of_constructor` gives for it: an imported
/// one has the import's name before its own.
inline const DataConstructor* find_constructor(const DataDefinition& data, std::string_view name) {
  size_t dot = name.rfind('.');
  for (const DataConstructor& c : data.constructors)
    if (c.name == name || (dot != std::string_view::npos && c.name == name.substr(dot + 1))) return &c;
  return nullptr;
}

/// A top-level `let`: the variable (with its type, every `?` opened to a dim of its own) and where it stands.
struct TopLevelVariable {
  const Variable* variable;
  Place place;
  Scheme scheme = {};  ///< of a function literal, which may be general
  /// For a function literal that is typed anew for each rank and dtype: its statement, and the variables that
  /// it could see there.
  std::shared_ptr<const Declaration> literal = nullptr;
  std::vector<std::shared_ptr<const TopLevelVariable>> captured = {};
};

/// What one statement binds, from left to right.
using StatementVariables = std::vector<std::shared_ptr<const TopLevelVariable>>;

struct InstanceRequest;
struct Metadata;
struct Inferred;

/// An instance of an operator, or why there is none.
struct InstanceAnswer {
  std::shared_ptr<const OpInstance> instance;
  Diagnostics diagnostics;  ///< at places in the operator's definition
  bool own = false;         ///< the operator is declared in the module that asks
};

class Scope {
 public:
  virtual ~Scope() = default;
  /// The module whose scope this is: what `GlobalExpr::module` says.
  virtual uint32_t module() const = 0;
  /// The scope that a declaration's own text is read in: that of the module it stands in.
  virtual Scope& home(const Declaration& declaration) = 0;
  /// Whether there is a `def @name`. Asking for no more than that leaves its body out of what the asker
  /// depends on.
  virtual bool has_global(std::string_view name) = 0;
  /// `def @name`.
  virtual const Declaration* global(std::string_view name) = 0;
  /// `op name` or `def name` (a composite operator).
  virtual const Declaration* op(std::string_view name) = 0;
  /// `static @name`.
  virtual const Declaration* static_function(std::string_view name) = 0;
  /// The operator that `infix "symbol" name` declares for a symbol; "" where none does.
  virtual std::string infix(std::string_view symbol) = 0;
  /// The type that `type name` declares, over type variables of its own, without resolving its fields (so
  /// that types may name each other).
  virtual const DataHeader* data_header(std::string_view type_name) = 0;
  /// What `type name = …` stands for; null where the name is none of an alias.
  virtual const TypeAlias* alias(std::string_view type_name) = 0;
  virtual const DataDefinition* data(std::string_view type_name) = 0;
  /// The declaration of a data type, by whatever name it is known here.
  virtual const DataDefinition* data_of(Type type) = 0;
  /// The type that has a constructor of this name.
  virtual const DataDefinition* data_of_constructor(std::string_view constructor) = 0;
  /// A top-level variable that the current statement can see; null in definitions.
  virtual const TopLevelVariable* variable(std::string_view name) = 0;
  virtual std::shared_ptr<const TopLevelVariable> shared_variable(std::string_view name) = 0;
  /// Whether some top-level statement binds %name (for the diagnostic in definitions).
  virtual bool has_top_level_variable(std::string_view name) = 0;
  /// Whether something before the current statement did not parse and mentions the name: it may have been
  /// meant to bind it.
  virtual bool in_broken_declaration(std::string_view name) = 0;
  /// Whether an import that cannot be followed may have been meant to bring this name (of a definition, an
  /// operator, a type or a constructor): the import is reported, and what it would have brought is not.
  virtual bool in_broken_import(std::string_view name) = 0;
  /// The general type of @name, inferred where it is not annotated; null when it has none because of errors.
  virtual const Scheme* scheme(std::string_view name) = 0;
  /// Whether the type of @name is all written: `scheme` asks for no body then.
  virtual bool is_annotated(std::string_view name) = 0;
  /// Schedules in the definition of an operator that there is no code for.
  virtual Diagnostics schedule_problems(const FnExpr& definition) = 0;
  /// From now on `@f{…}`, the key of the request, is a definition.
  virtual void specialise(const InstanceRequest& request) = 0;
  /// The same, and what it is; null while it is being inferred.
  virtual const Inferred* specialised(const InstanceRequest& request) = 0;
  /// The members of the group of mutually recursive, unannotated definitions that is being inferred are not
  /// asked for through `scheme`.
  virtual InstanceAnswer instance(const InstanceRequest& request) = 0;
  /// The `#[metadata]` of the file that a declaration stands in; null without one.
  virtual const Metadata* metadata(uint32_t declaration) = 0;
  /// TVM 0.n printed the file that a declaration stands in, as its header and metadata tell; nothing without
  /// a header.
  virtual std::optional<int> tvm(uint32_t declaration) = 0;
  /// Whether what may surprise a reader of a declaration is reported: not in the library, nor in what TVM
  /// printed.
  virtual bool warns_about(uint32_t declaration) = 0;
  /// The header of a data file (for `load` without an annotation), or why it cannot be read.
  virtual Result<Type> file_type(std::string_view path, std::string_view entry) = 0;
  /// All names of a kind, for did-you-mean.
  enum class Names { Globals, Operators, Types, Constructors, Variables };
  virtual std::vector<std::string> names(Names kind) = 0;
  /// Whether nobody wants the answer any more: what is asked for then may be left undone.
  virtual bool cancelled() { return false; }
};

}  // namespace quern
