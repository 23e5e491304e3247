#pragma once
// The compile-time language: attributes, dims, packs and `static` functions, evaluated over syntax.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/static/scope.h"
#include "frontend/syntax/syntax.h"
#include "frontend/text/diagnostics.h"
#include "ir/base/name_map.h"
#include "ir/type/static_value.h"

namespace quern {

/// Names bound at compile time: dims, packs, dtypes, attributes, `static` names, index variables.
using StaticEnv = NameMap<StaticValue>;

class StaticEvaluator {
 public:
  StaticEvaluator(Scope& scope, uint32_t declaration, Diagnostics& diagnostics)
      : scope_(scope), declaration_(declaration), diagnostics_(diagnostics) {}
  virtual ~StaticEvaluator() = default;

  /// The value of an expression; nothing after a diagnostic.
  std::optional<StaticValue> evaluate(SyntaxPtr expr, const StaticEnv& env);

  // The same with a required kind of result, reported if not met.
  std::optional<Dim> dim(SyntaxPtr expr, const StaticEnv& env);
  std::optional<bool> boolean(SyntaxPtr expr, const StaticEnv& env);
  std::optional<DType> dtype(SyntaxPtr expr, const StaticEnv& env);
  /// A shape: a list of dims; `(2)` and `(2,)` are the same.
  std::optional<std::vector<Dim>> shape(SyntaxPtr expr, const StaticEnv& env);

  /// At instance level dims are the operator's own rigid variables, and broadcasting two different ones gives
  /// a Broadcast dim; at a call it is a mismatch.
  bool instance_level = false;
  /// Where not null, takes the answers of functions that compare how values are written (`same`, `contains`, `index_of`): with
  /// the dims of a call they may differ from those with rigid variables.
  std::string* answers_of_form = nullptr;
  /// Where not null, becomes true where a dtype that inference has not settled differs from another: it may yet be equal.
  bool* met_unsettled = nullptr;
  /// The value of the name `tvm`: in an attribute's default, the n of the TVM 0.n that printed the call's
  /// text, None for a text without TVM's header. Elsewhere the name is undefined.
  std::optional<StaticValue> tvm;
  /// Requires a relation that the dims leave open: true if it will be checked at run time.
  std::function<bool(DimRelation, Dim, Dim)> require;
  /// The meaning of `_` as a dim and as a dtype: unknowns of the running inference. Without these it is
  /// reported.
  std::function<Dim()> hole_dim;
  std::function<DType()> hole_dtype;

 protected:
  /// A node outside the compile-time language; subclasses give it a meaning. Reports by default.
  virtual std::optional<StaticValue> other(SyntaxPtr expr, const StaticEnv& env);
  /// Arithmetic on an index expression that is not a dim. Reports by default.
  virtual std::optional<StaticValue> combine(SyntaxPtr expr, const StaticValue& left,
                                             const StaticValue& right);

  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {});
  Place place(SyntaxPtr at) const { return {{declaration_, at ? at->id : 0}, {}}; }

  Scope& scope_;
  uint32_t declaration_;
  Diagnostics& diagnostics_;

 private:
  friend struct StaticBuiltins;
  void not_a_dim(SyntaxPtr shape, const StaticValue& item);
  std::optional<StaticValue> number(SyntaxPtr expr);
  std::optional<StaticValue> meta(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> name(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> list(SyntaxPtr expr, const StaticEnv& env);
  bool append(SyntaxPtr element, const StaticEnv& env, StaticList& out);
  std::optional<StaticValue> index(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> unary(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> binary(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> arithmetic(SyntaxPtr expr, const StaticValue& left, const StaticValue& right);
  std::optional<StaticValue> compare(SyntaxPtr expr, const StaticValue& left, const StaticValue& right);
  std::optional<StaticValue> call(SyntaxPtr expr, const StaticEnv& env);
  std::optional<StaticValue> call_static(SyntaxPtr call, const StaticEnv& env);

  int depth_ = 0;
  int64_t steps_ = 0;
  SyntaxPtr measured_ = nullptr;  ///< the last argument of `len`
};

/// The message for a `_` in value position.
constexpr std::string_view kHoleHere =
    "`_` has no value: it stands for a part of a type that inference finds, or for a value that a pattern "
    "drops";

/// Whether the expression has the form of a tensor operand: `%x`, `%0`, `%net.w`, `%t.0`.
bool is_operand(SyntaxPtr expr);

/// Three-valued comparison of static values: nothing if dims leave it open.
std::optional<bool> static_equal(const StaticValue& a, const StaticValue& b);

}  // namespace quern
