#pragma once
// The scope around a place in the body of an index expression: index variables, conditions, `let`s.

#include <optional>
#include <span>
#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

class ElementScope {
 public:
  /// Index variables with their extents (an extent may mention earlier ones), outermost first; conditions on
  /// dims, each == 0 or >= 0.
  std::vector<Dim> vars, extents, zero, nonnegative;

  void enter(std::span<const Dim> more, std::span<const Dim> their_extents);
  /// Whether there are only index variables.
  bool is_bare() const { return zero.empty() && nonnegative.empty() && around_.empty(); }
  void condition(ExprPtr holds) { around_.push_back({nullptr, holds}); }
  void let(const Binding& binding) { around_.push_back(binding); }

  struct Mark {
    size_t vars, zero, nonnegative, around;
  };
  Mark mark() const { return {vars.size(), zero.size(), nonnegative.size(), around_.size()}; }
  void leave(const Mark& mark);

  /// The value with the `let`s that it needs.
  ExprPtr with_lets(const ScalarBuilder& build, ExprPtr value) const;
  /// The value with the `let`s that it needs, of those entered since the mark, and 0 where a condition
  /// entered since then does not hold. Conditions on dims are left to the caller.
  ExprPtr within(const ScalarBuilder& build, ExprPtr value, const Mark& since = {}) const;
  /// The conjunction of all conditions except those on dims; null if there are none.
  ExprPtr holds(const ScalarBuilder& build) const;
  /// The sum of `within` over the index variables entered since the mark, where the conditions on dims hold.
  ExprPtr summed(const ScalarBuilder& build, ExprPtr value, const Mark& since) const;

  /// A value at the place as a tensor over the variables that it depends on, `at`. If its evaluation may
  /// stop, the tensor has 0 at points that the conditions exclude.
  struct Tensor {
    const ComprehensionExpr* tensor;
    std::vector<Dim> at;
  };
  /// Nothing if an extent of the tensor would depend on an index variable.
  std::optional<Tensor> as_tensor(const ScalarBuilder& build, ExprPtr value) const;

 private:
  ExprPtr guarded(const ScalarBuilder& build, ExprPtr value, const Mark& since) const;
  /// The value at points where it is needed; elsewhere 0, if it may fail there.
  ExprPtr without_failure(const ScalarBuilder& build, ExprPtr value) const;

  std::vector<Binding> around_;  ///< outermost first; a condition has no variable
};

/// Whether an index variable occurs in the expression.
bool mentions(ExprPtr expr, Dim var);

}  // namespace quern
