#pragma once
// Elaborates index expressions to typed IR: comprehensions, reductions and reads, with their types, extents
// and bounds proofs.

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/static/eval.h"
#include "ir/expr/expr.h"

namespace quern {

class IndexElaborator : public StaticEvaluator {
 public:
  /// Resolves a read's operand: the tensor that a `%name`, field or projection denotes (null after a
  /// diagnostic).
  using Operand = std::function<ExprPtr(SyntaxPtr)>;

  IndexElaborator(Arena& arena, Scope& scope, uint32_t declaration, Diagnostics& diagnostics, Operand operand)
      : StaticEvaluator(scope, declaration, diagnostics), arena_(arena), operand_(std::move(operand)) {}

  /// A comprehension. In an `op` the extents and the dtype are those of the declared result; elsewhere every
  /// extent is written (`extents` empty) and the dtype is the body's, int64 if that is index. Null after a
  /// diagnostic. Reports reads not proved in bounds.
  ExprPtr comprehension(SyntaxPtr syntax, const StaticEnv& env, std::optional<std::vector<Dim>> extents,
                        std::optional<DType> dtype);

  /// One element outside any comprehension, of this dtype: a rank-0 comprehension. Null after a diagnostic.
  ExprPtr element(SyntaxPtr syntax, const StaticEnv& env, DType dtype);

  /// Evaluates an extent that reads operands; without it none does.
  std::function<std::optional<StaticValue>(SyntaxPtr, const StaticEnv&)> extent;

 protected:
  std::optional<StaticValue> other(SyntaxPtr expr, const StaticEnv& env) override;
  std::optional<StaticValue> combine(SyntaxPtr expr, const StaticValue& left,
                                     const StaticValue& right) override;

 private:
  /// A position along one axis: a dim or a computed index. A trusted one needs no proof.
  struct Position {
    ExprPtr expr;
    SyntaxPtr syntax;
    bool trusted = false;
  };
  /// A bound to prove at the end, when the extents of all index variables are known.
  struct Obligation {
    Dim index;
    Dim extent;
    SyntaxPtr syntax;
    SyntaxPtr read;
    bool has_else;
    bool* checked;
    std::vector<Dim> around;  ///< the index variables in scope there
  };
  struct Candidate {
    Dim extent;
    SyntaxPtr syntax;
  };

  ExprPtr value(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr literal(SyntaxPtr expr, std::optional<DType> wanted);
  ExprPtr from_static(SyntaxPtr expr, const StaticValue& value, std::optional<DType> wanted);
  ExprPtr binary(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr apply(SyntaxPtr expr, ScalarOp op, std::vector<SyntaxPtr> operands, const StaticEnv& env,
                std::optional<DType> wanted);
  ExprPtr call(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr conversion(SyntaxPtr expr, const StaticEnv& env, DType to);
  ExprPtr conditional(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr reduce(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr scan(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  bool uses_own_variables(SyntaxPtr scatter, const StaticEnv& outer, const StaticEnv& inner);
  ExprPtr scatter(SyntaxPtr expr, const StaticEnv& outer, const StaticEnv& inner,
                  std::span<const Dim> extents, std::optional<DType> wanted);
  ExprPtr read(SyntaxPtr expr, const StaticEnv& env, ExprPtr otherwise, bool has_else);
  ExprPtr read_base(SyntaxPtr expr, const StaticEnv& env);
  /// The tensor of a read; null after a diagnostic.
  ExprPtr named_tensor(SyntaxPtr at);
  ExprPtr member(SyntaxPtr expr, const StaticEnv& env);
  ExprPtr read_else(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  ExprPtr inner_element(SyntaxPtr expr, SyntaxPtr inner, const StaticEnv& env, bool has_else);
  ExprPtr block(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  const Variable* let_bound(SyntaxPtr expr) const;
  ExprPtr fold(SyntaxPtr expr, const StaticEnv& env, std::optional<DType> wanted);
  bool family(SyntaxPtr call, const StaticEnv& env, std::vector<std::pair<SyntaxPtr, StaticEnv>>& reads);
  std::optional<std::vector<Position>> positions(std::span<const SyntaxPtr> items, const StaticEnv& env,
                                                 std::span<const Dim> shape);
  std::optional<Position> position(SyntaxPtr syntax, const StaticValue& value);
  ExprPtr as_index(SyntaxPtr syntax, ExprPtr expr);
  bool bind_vars(SyntaxPtr binders, StaticEnv& env, std::vector<Dim>& vars, std::vector<Dim>& extents);
  bool settle_extents(SyntaxPtr binders, const std::vector<Dim>& vars, std::vector<Dim>& extents);
  bool prove();

  Fix conversion_fix(SyntaxPtr operand, DType to) const;
  /// Evaluates without reporting, for expressions that need not be compile-time values.
  std::optional<StaticValue> try_static(SyntaxPtr expr, const StaticEnv& env);
  ExprPtr expect(SyntaxPtr at, ExprPtr expr, std::optional<DType> wanted);
  ExprPtr make_cast(SyntaxPtr at, ExprPtr expr, DType to);
  ExprPtr dim_value(SyntaxPtr at, Dim d);
  /// A number, or a vector with it in every lane.
  ExprPtr constant(SyntaxPtr at, const Scalar& lane, uint16_t lanes = 1);
  Origin origin(SyntaxPtr at) const { return {declaration_, at ? at->id : 0}; }

  Arena& arena_;
  Operand operand_;
  std::vector<Dim> around_;               ///< index variables of the enclosing loops
  std::unordered_map<Dim, Dim> extents_;  ///< their extents, if known
  std::vector<const Variable*> lets_;     ///< elements bound by enclosing `let`s
  bool unchecked_ = false;                ///< receives obligations that no read keeps
  std::vector<Dim> result_vars_;          ///< the comprehension's own index variables
  std::vector<Obligation> obligations_;
  std::unordered_map<Dim, std::vector<Candidate>>
      candidates_;  ///< reduction variables whose extent the reads determine
};

/// The tensor operands (`%x`, `%net.w`, `%t.0`) that an index expression reads, each once.
std::vector<SyntaxPtr> tensor_operands(SyntaxPtr expr);
/// The extents that an index expression's binders state, but for those of elements that a `let` inside of it binds.
std::vector<SyntaxPtr> binder_extents(SyntaxPtr expr);
/// Whether two operands are written the same way.
inline bool same_operand(SyntaxPtr a, SyntaxPtr b) { return equal(a, b); }

}  // namespace quern
