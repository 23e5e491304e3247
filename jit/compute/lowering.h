#pragma once
// Lowers an index expression to the computation of one element.

#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "jit/compute/computation.h"
#include "passes/row_group.h"

namespace quern::loops {

using Params = std::span<const Variable* const>;
/// The values of a row's stages: a local, or a place in the result's memory.
using StageValues = std::unordered_map<const Variable*, ValuePtr>;

inline constexpr std::string_view kDivisionByZero = "index arithmetic divides by zero";

/// Lowers one index expression; call `run` once.
class Lowering {
 public:
  explicit Lowering(Params params, const ComprehensionExpr& body, const StageValues* stages = nullptr,
                    int first_local = 0);
  /// Adds tensors that are read besides the parameters.
  void add_scratch(std::span<const RowStage> stages);
  Computation run();

 private:
  void add_buffer(const Variable* param);
  /// The index of the current lane of an element. A vector with other lanes than the result's is bound by a
  /// `let` that the result does not use, so any lane will do.
  Dim lane_of(DType dtype) const;
  ValuePtr value(ExprPtr expr, std::vector<Reduction>& reductions);
  ValuePtr apply(const ScalarExpr& e, DType dtype, std::vector<Reduction>& reductions);
  /// A vector whose lanes differ is not an atom (passes/pass.h), but a parameter.
  static Scalar constant(const HostTensor& tensor);
  void bind(const Binding& binding, std::vector<Reduction>& reductions);
  ValuePtr load(const VarExpr& var);
  ValuePtr read(const ReadExpr& e, std::vector<Reduction>& reductions);
  ValuePtr reduce(const ReduceExpr& e, std::vector<Reduction>& reductions);
  /// A running result if it can follow a loop of the result; otherwise the equivalent reduction.
  ValuePtr scan(const ScanExpr& e, std::vector<Reduction>& reductions);
  Scatter scatter(const ScatterExpr& e);
  /// Makes the loop over the lanes the innermost loop of a scatter.
  void add_lanes(Scatter& s);

  // --- conditions (conditions.cpp)
  void enter(Dim var, Dim extent);
  /// The value of an arm, needed only where the condition equals `wanted`.
  ValuePtr value_where(const ValuePtr& condition, bool wanted, ExprPtr arm,
                       std::vector<Reduction>& reductions);
  static BoundsCheck not_zero(const ValuePtr& index);
  /// Binds a value used several times to a local, unless it is a read at dims: otherwise nested reads would
  /// double in size at each level.
  ValuePtr shared(ValuePtr value, std::vector<Reduction>& reductions);
  ValuePtr bound(ValuePtr value, std::vector<Reduction>& reductions);
  /// Makes the kernel stop if a check fails and the value is used.
  void stop_unless(CheckedValue& v, std::vector<BoundsCheck> checks, std::string_view message);
  /// Checks that divisors that may be 0 are not.
  std::vector<BoundsCheck> divisor_checks(Dim d) const;
  ValuePtr index_of(Dim d);
  /// Requires extents that have a value only where the reduction is evaluated.
  void require_extents(std::span<const Dim> extents, std::vector<Reduction>& reductions);
  /// A term that counts only under a condition on dims, and is the initial value elsewhere, is skipped by
  /// checks of the reduction, like padding.
  void term(const ReduceExpr& e, Reduction& r);
  /// Adds checks that dims are nonnegative: one check for two dims whose sum depends on no index.
  void add_checks(std::vector<Dim> nonnegative, std::vector<BoundsCheck>& checks) const;
  /// Collects the conditions for a term to count: out of bounds, a read yields the reduction's initial value,
  /// or is a zero factor of a sum's term.
  static void collect_absence(const Value& v, ReduceKind kind, std::vector<BoundsCheck>& checks);

  /// Collects the frame's dims: every variable that is not an index variable, in order of first occurrence.
  void collect_dims();

  const ComprehensionExpr& body_;
  DType dtype_;  ///< of the result
  const StageValues* stages_;
  int output_ = 0;
  Dim lane_ = nullptr;  ///< the lane of the result being computed, if it is of vectors
  Computation result_;
  std::unordered_map<const Variable*, int> buffer_of_;
  std::unordered_map<const Variable*, ValuePtr> lets_;
  std::unordered_set<Dim> index_vars_;
  Facts facts_;                      ///< of the index variables in scope
  std::vector<BoundsCheck> guards_;  ///< of the enclosing arms
};

}  // namespace quern::loops
