#pragma once
// Function literals bound by `let` that are specialised per rank and dtype of their uses, as copies beside
// them.

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/general/general.h"

namespace quern {

/// A typed copy of a function literal.
struct TypedLiteral {
  DraftPtr function;
  std::vector<Dim> dim_vars;
};

/// Types the literal of a `let` with these parameter types. `self` is the variable by which the literal
/// refers to itself.
using TypeLiteral =
    std::function<TypedLiteral(SyntaxPtr let, Variable* self, const std::vector<Type>& given)>;

class Copies : public Component {
 public:
  Copies(Context& context, Names& names, Assignments& assignments, Relations& relations, Operators& operators,
         General& general)
      : Component(context),
        names_(names),
        assignments_(assignments),
        relations_(relations),
        operators_(operators),
        general_(general) {}

  TypeLiteral type_literal;

  /// Registers the literal of a `let` for specialisation at each use of the variable.
  void keep(SyntaxPtr let, const Variable* variable);
  /// Makes a variable of an earlier statement, with its scheme, available.
  const Variable* top_level(const TopLevelVariable& top);
  /// A use of a variable with a polymorphic type.
  DraftPtr use(SyntaxPtr s, const Variable* variable);

  /// A copy and its variable.
  struct Copy {
    const Variable* variable;
    DraftPtr function;
  };
  /// The copies of a specialised variable; nothing for any other variable.
  std::optional<std::vector<Copy>> of(const Variable* variable) const;
  /// Variables of earlier statements that are specialised here, each after those it captures.
  std::span<const Variable* const> of_earlier_statements() const { return earlier_; }
  /// The syntax of the parameters of a specialised variable; null for others.
  struct Literal {
    SyntaxPtr params = nullptr;
    uint32_t declaration = 0;
  };
  Literal literal_named(std::string_view name) const;

 private:
  /// A function literal bound by `let` whose type leaves relations or dtypes open.
  struct Template {
    struct At {
      std::vector<Type> params;  ///< of the copy, `?` for each dim
      const Variable* variable;
      DraftPtr function;
      Scheme scheme;
      Type made;  ///< unknown while the copy is being made: other uses meanwhile wait for it
      bool broken = true;
    };
    SyntaxPtr let;
    uint32_t declaration;
    TypeEnv env;
    std::vector<LocalName> captured;
    std::deque<At> copies = {};
  };
  bool has_written_dtypes(const Template& made, Type function, SyntaxPtr at, std::string_view name);
  bool attempt(DraftPtr waiting, SyntaxPtr s, const Variable* variable, size_t use);
  Template::At& copy_at(Template& of, const std::vector<Type>& params, SyntaxPtr use);
  void type_copy(const Template& of, Template::At& copy, Variable* self, SyntaxPtr use);
  void report_at_use(size_t from, const Template& of, SyntaxPtr use);

  Names& names_;
  Assignments& assignments_;
  Relations& relations_;
  Operators& operators_;
  General& general_;
  std::unordered_map<const Variable*, Template> templates_;
  std::vector<const Variable*> earlier_;
};

/// Whether a statement is `let %f = fn …` or `%0 = fn …`, whose function may be polymorphic.
bool binds_function(SyntaxPtr statement);
/// The function literal of such a statement, and the annotation of its variable, or null.
SyntaxPtr literal_of(SyntaxPtr statement);
SyntaxPtr annotation_of(SyntaxPtr statement);
/// Binds the dims in which a function is polymorphic from its arguments.
void bind_dims_of(DraftPtr function, const Scheme& scheme, Drafts& drafts);

}  // namespace quern
