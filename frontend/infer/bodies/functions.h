#pragma once
// Functions: literals, definitions, and their gradient clauses.

#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class Functions : public WalkPart {
 public:
  Functions(Parts& parts, Walk& walk);

  /// A function from a head and its body; `params` (a Params node) names the parameters. `chunked` holds the
  /// long body of a definition.
  DraftPtr function(SyntaxPtr at, SyntaxPtr params, const Head& head, SyntaxPtr body,
                    const Declaration* chunked = nullptr);
  /// A literal used in place.
  DraftPtr literal(SyntaxPtr s);
  /// The `gradient` clause of a function, as a function.
  DraftPtr gradient_clause(SyntaxPtr s, Type wanted);
  /// The `gradient` clause of an `op`, as a function of its parameters: `fn (params) { fn (%g, %y) { … } }`.
  DraftPtr gradient_of_op(SyntaxPtr clause, SyntaxPtr params, const Head& head);

  /// The function of `let %f = fn …` and the variable bound to it, which is in scope from here on.
  struct Bound {
    const Variable* variable;
    DraftPtr function;
  };
  Bound let_function(SyntaxPtr s);
  /// The value of `let %f = fn …` at the top level, and its type scheme.
  DraftPtr statement(SyntaxPtr s, Scheme& scheme);

 private:
  TypedLiteral copy_of(SyntaxPtr let, Variable* self, const std::vector<Type>& given);
  void make_general(SyntaxPtr s, Variable* self, DraftPtr function, const Head& head,
                    const GeneralMark& from);
  void expect_result(SyntaxPtr at, const Head& head, SyntaxPtr body, const Declaration* chunked,
                     DraftPtr result, uint32_t region);
  DraftPtr with_gradient(SyntaxPtr clause, const std::vector<const Variable*>& params, DraftPtr value,
                         Type type);
};

/// The syntax of the value of a body's block.
SyntaxPtr last_statement(SyntaxPtr block);

}  // namespace quern
