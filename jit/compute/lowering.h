#pragma once
// From an index expression to what a primitive computes for one element.

#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "jit/compute/computation.h"
#include "passes/row_group.h"

namespace quern::loops {

using Params = std::span<const Variable* const>;
/// What stages of a row were bound to: a local, or what is in the result's memory.
using StageValues = std::unordered_map<const Variable*, ValuePtr>;

inline constexpr std::string_view kDivisionByZero = "index arithmetic divides by zero";

/// One index expression on its way to a computation: `run` once.
class Lowering {
 public:
  explicit Lowering(Params params, const ComprehensionExpr& body, const StageValues* stages = nullptr,
                    int first_local = 0);
  /// Tensors that are read beside the parameters.
  void add_scratch(std::span<const RowStage> stages);
  Computation run();

 private:
  void add_buffer(const Variable* param);
  /// Where the current lane of an element is. A vector with other lanes than the result's is bound by a `let`
  /// that the result does not use: of it, any lane will do.
  Dim lane_of(DType dtype) const;
  ValuePtr value(ExprPtr expr, std::vector<Reduction>& reductions);
  ValuePtr apply(const ScalarExpr& e, DType dtype, std::vector<Reduction>& reductions);
  /// A vector whose lanes differ is no atom (passes/pass.h), and a parameter.
  static Scalar constant(const HostTensor& tensor);
  void bind(const Binding& binding, std::vector<Reduction>& reductions);
  ValuePtr load(const VarExpr& var);
  ValuePtr read(const ReadExpr& e, std::vector<Reduction>& reductions);
  ValuePtr reduce(const ReduceExpr& e, std::vector<Reduction>& reductions);
  /// A running result where it can follow a loop of the result; the reduction that it equals elsewhere.
  ValuePtr scan(const ScanExpr& e, std::vector<Reduction>& reductions);
  Scatter scatter(const ScatterExpr& e);
  /// The innermost of a scatter's loops is over the lanes.
  void add_lanes(Scatter& s);

  // --- conditions (conditions.cpp)
  void enter(Dim var, Dim extent);
  /// The value of an arm, which is asked for only where the condition is as `wanted`.
  ValuePtr value_where(const ValuePtr& condition, bool wanted, ExprPtr arm,
                       std::vector<Reduction>& reductions);
  static BoundsCheck not_zero(const ValuePtr& index);
  /// What is needed several times and is more than a read of a place that dims tell is bound to a local:
  /// reads inside of reads would be written out twice as often with each level.
  ValuePtr shared(ValuePtr value, std::vector<Reduction>& reductions);
  ValuePtr bound(ValuePtr value, std::vector<Reduction>& reductions);
  /// The kernel stops where a check fails and somebody looks at the value.
  void stop_unless(CheckedValue& v, std::vector<BoundsCheck> checks, std::string_view message);
  /// That no divisor is 0, of those that may be.
  std::vector<BoundsCheck> divisor_checks(Dim d) const;
  ValuePtr index_of(Dim d);
  /// An extent that has a value only where the reduction is asked for.
  void require_extents(std::span<const Dim> extents, std::vector<Reduction>& reductions);
  /// A term that counts only where dims meet a condition, and is what the reduction starts from elsewhere, is
  /// left out by checks of the reduction, as that of padding is.
  void term(const ReduceExpr& e, Reduction& r);
  /// Tests that dims are not negative: one for two of them whose sum no index moves.
  void add_checks(std::vector<Dim> nonnegative, std::vector<BoundsCheck>& checks) const;
  /// What has to hold for a term to count: outside of its tensor, a read gives what the reduction starts
  /// from, or is a factor 0 of a sum's term.
  static void collect_absence(const Value& v, ReduceKind kind, std::vector<BoundsCheck>& checks);

  /// Dims of the frame: every variable that is not an index variable, in order of first occurrence.
  void collect_dims();

  const ComprehensionExpr& body_;
  DType dtype_;  ///< of the result
  const StageValues* stages_;
  int output_ = 0;
  Dim lane_ = nullptr;  ///< which lane of the result is computed, where it is of vectors
  Computation result_;
  std::unordered_map<const Variable*, int> buffer_of_;
  std::unordered_map<const Variable*, ValuePtr> lets_;
  std::unordered_set<Dim> index_vars_;
  Facts facts_;                      ///< of the index variables in scope
  std::vector<BoundsCheck> guards_;  ///< of the arms that the value stands in
};

}  // namespace quern::loops
