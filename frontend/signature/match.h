#pragma once
// Matches one call against an operator's signature. Internal to frontend/signature; the entry point is
// frontend/signature/signature.h.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/signature/signature.h"
#include "frontend/static/eval.h"

namespace quern {

class SignatureMatcher {
 public:
  SignatureMatcher(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
                   Diagnostics& diagnostics, uint32_t caller)
      : op_(op),
        call_(call),
        scope_(scope),
        hooks_(hooks),
        diagnostics_(diagnostics),
        caller_(caller),
        inside_evaluator_(scope, op.id, inside_) {
    inside_evaluator_.require = [this](DimRelation relation, Dim a, Dim b) {
      return hooks_.require(relation, hooks_.resolve(a), hooks_.resolve(b), true);
    };
  }

  MatchOutcome run();
  /// The result of `known_names`.
  StaticEnv known();

 private:
  enum class Status { Ok, Stuck, Failed };

  // The user's terms for the operator and its operands: an infix symbol has a left and a right one.
  std::string op_text() const;
  std::string operand_text(size_t i) const;
  /// A parameter's argument, or a member of it.
  struct Operand {
    size_t argument = 0;
    SyntaxPtr param = nullptr;
    std::optional<size_t> member = std::nullopt;
  };
  std::string operand_text(const Operand& operand) const;
  std::string operand_text() const { return operand_text(operand_); }
  std::string text_of_binder(std::string_view name) const;

  MatchOutcome failed() { return {MatchStatus::Failed, {}}; }

  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {});
  // The types of all arguments, each with its origin.
  std::vector<Note> argument_notes();
  // Reports at the call what went wrong while evaluating the signature's own expressions.
  bool report_inside();

  /// `cast(…, dtype="float32")` around an argument, or `.0` after a number without a suffix.
  Fix conversion(SyntaxPtr argument, DType to) const;
  std::vector<Fix> one_dtype(DType wanted, DType found) const;
  void asking(SyntaxPtr at, std::function<std::string()> what, SyntaxPtr source = nullptr);

  // --- attributes
  bool attributes();
  bool unknown_attribute(size_t i, const std::vector<SyntaxPtr>& declared);
  bool bind_attribute(SyntaxPtr declared, const StaticValue* given, SyntaxPtr at);
  // The default of an attribute in a text printed by TVM 0.`tvm`, or in one without a header.
  std::optional<StaticValue> default_of(SyntaxPtr declared, std::optional<int> tvm);
  bool missing_attribute(SyntaxPtr declared);
  bool wrong_attribute(SyntaxPtr declared, std::string_view kind, const StaticValue& given, SyntaxPtr at);
  // Whether an expression uses names that tensor parameter types bind.
  bool depends_on_tensors(SyntaxPtr expr) const;
  bool mentions_unknown_dims();

  // --- argument types
  Status match(SyntaxPtr pattern, Type actual);
  Status wrong_type(SyntaxPtr, Type actual);
  Status match_family(SyntaxPtr pattern, Type actual);
  Status match_tensor(SyntaxPtr pattern, Type actual);
  Status match_dtype(SyntaxPtr pattern, Type actual);
  void bind(std::string_view name, StaticValue value);
  /// Adds the value of a tuple's member to a name that has one for each.
  void bind_member(std::string_view name, StaticValue value);
  StaticValue pack(std::span<const Dim> dims);

  Status match_shape(SyntaxPtr pattern, Type actual);
  // `permute((n, c, h, w), axes)`: the order in which a layout, an attribute, stores the dims.
  bool permuted(SyntaxPtr pattern, std::vector<SyntaxPtr>& items);
  Status match_pack(SyntaxPtr at, std::string_view name, std::span<const Dim> dims);
  static std::string shape_text(const StaticValue& pack);
  Status match_dim(SyntaxPtr pattern, Dim actual);
  // The dims whose patterns use names that a later parameter binds.
  Status match_put_off();
  static std::string pattern_text(SyntaxPtr p);
  // `groups * m`, `n + 2`: if one name is unknown, the extent determines it.
  std::optional<Status> match_linear(SyntaxPtr pattern, Dim actual);

  // --- clauses and result
  bool clauses();
  bool check(SyntaxPtr clause);
  bool report_ragged();
  /// Whether a condition holds, or is left to a run-time check; nothing after a diagnostic. `detail` says for
  /// what it fails.
  std::optional<bool> holds(SyntaxPtr condition, std::string& detail);
  void add_detail(std::string_view test, SyntaxPtr a, SyntaxPtr b, std::string& detail);
  /// `a or b`: decided by one side if possible; for two open equalities of dims, by their product.
  std::optional<bool> either(SyntaxPtr condition, std::string& detail);
  /// Whether the two dtypes of an equality are or become equal; nothing for anything else.
  std::optional<bool> dtypes_agree(SyntaxPtr side);
  /// The sides of an undecided equality of dims; nothing for anything else.
  std::optional<std::pair<Dim, Dim>> open_equality(SyntaxPtr side);
  /// A comparison: on dims it may be left to a run-time check, on anything else it is decided.
  bool relate(std::string_view symbol, const StaticValue& left, const StaticValue& right, SyntaxPtr at);
  bool result();

  // --- calls that are not whole (known_names.cpp)
  std::optional<StaticValue> known_value(SyntaxPtr expr);
  void learn(SyntaxPtr condition);
  std::optional<bool> decided(SyntaxPtr condition);

  const Declaration& op_;
  const SignatureCall& call_;
  Scope& scope_;
  TypeHooks& hooks_;
  Diagnostics& diagnostics_;
  uint32_t caller_;
  Diagnostics inside_;
  StaticEvaluator inside_evaluator_;
  SignatureBinding binding_;
  NameMap<Operand> bound_by_;  ///< what bound each name
  struct PutOff {
    SyntaxPtr pattern;
    Dim actual;
    Operand operand;
  };
  std::vector<PutOff> put_off_;
  bool last_try_ = false;        ///< names without a value will get none
  std::vector<SyntaxPtr> late_;  ///< attributes whose default depends on the tensors
  std::optional<int> tvm_;       ///< TVM 0.`tvm_` printed the text of the call
  std::string empty_family_;     ///< the operand that is an empty tuple
  Operand operand_;              ///< being matched
};

}  // namespace quern
