#pragma once
// The walk that resolves names. Internal to frontend/names.

#include <span>
#include <string_view>
#include <vector>

#include "frontend/names/occurrences.h"

namespace quern {

class NameWalk {
 public:
  NameWalk(uint32_t declaration, DeclaredNames& names) : declaration_(declaration), names_(names) {}

  /// Enters the head of a chunk's definition, whose names are not occurrences here.
  void enter_body_of(const Declaration& head);
  void declaration(SyntaxPtr root);
  Occurrences take();

 private:
  /// What a bare name and `@f` may refer to.
  enum class Context : uint8_t {
    Value,   ///< operators, constructors, `def`s
    Index,   ///< in index expressions: scalar functions, which have no declarations
    Static,  ///< the compile-time language: `static` functions
  };
  struct Bound {
    std::string_view name;
    NameTarget target;
  };
  /// The callee of a call with named arguments.
  struct Callee {
    NameKind kind = NameKind::Variable;  ///< kind of the argument names: Attribute or Field
    uint32_t declaration = 0;
    std::span<const SyntaxPtr> parameters = {};
  };

  // declarations (declarations.cpp)
  void function(SyntaxPtr root, Context body);
  void type_params(SyntaxPtr list);
  void params(SyntaxPtr list);
  void clauses(SyntaxPtr list);
  void bodies(SyntaxPtr list, Context body);
  void with_params(SyntaxPtr list, SyntaxPtr body, Context context);
  void type_declaration(SyntaxPtr root);
  void schedule(SyntaxPtr clause, std::vector<Bound> loops);
  /// False if no loop has the name.
  bool loop(SyntaxPtr name, const std::vector<Bound>& loops);

  // types and expressions (expressions.cpp)
  void visit(SyntaxPtr s);
  void visit_all(std::span<const SyntaxPtr> list);
  void visit_in(Context context, SyntaxPtr s);
  void type(SyntaxPtr s);
  void let(SyntaxPtr s, SyntaxPtr annotation, SyntaxPtr value);
  void pattern(SyntaxPtr s);
  void index_expression(SyntaxPtr s);
  void family(SyntaxPtr s);
  void call(SyntaxPtr s);
  void name(SyntaxPtr s);
  void global(SyntaxPtr s);
  void symbol(SyntaxPtr s);
  Callee callee_of(SyntaxPtr callee);
  std::vector<Bound> loops_of_callee(SyntaxPtr call);
  Origin operator_of(SyntaxPtr symbol);
  static bool is_bound(std::string_view name, const std::vector<Bound>& scope);
  /// Records the innermost binder of the name as its target; false if there is none.
  bool bound(SyntaxPtr s, const std::vector<Bound>& scope);

  // occurrences
  void declare(SyntaxPtr s, NameKind kind, std::vector<Bound>& scope);
  void declare(SyntaxPtr s, NameKind kind) { note(s, {kind, origin(s)}, true); }
  void note(SyntaxPtr s, NameTarget target, bool declares = false);
  /// Records a declared name, with the module that it is imported from; false if there is none.
  bool note_declared(SyntaxPtr s, NameKind kind, const Origin& declared);
  Origin origin(SyntaxPtr s) const { return {declaration_, s->id}; }

  uint32_t declaration_;
  DeclaredNames& names_;
  Context context_ = Context::Value;
  bool records_ = true;         ///< names encountered are recorded as occurrences
  bool declares_dims_ = false;  ///< an unbound name declares a dim of the signature
  std::vector<Bound> variables_;
  std::vector<Bound> statics_;  ///< names without a sigil
  std::vector<Bound> indices_;  ///< all indices bound so far, for schedules
  Occurrences out_;
};

}  // namespace quern
