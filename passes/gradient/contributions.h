#pragma once
// What the reads of an index expression pass on: reverse differentiation of the expression of one element.

#include <unordered_map>
#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// At each point of `vars` (0 <= vars[k] < extents[k], an extent may mention earlier variables) where all of
/// `zero` are 0 and all of `nonnegative` are >= 0, the element of its tensor that `read` reads there takes
/// `value`.
struct Contribution {
  const ReadExpr* read;
  std::vector<Dim> vars, extents;
  std::vector<Dim> zero, nonnegative;
  ExprPtr value;
};

struct Contributions {
  /// In the order of the text.
  std::vector<std::pair<const Variable*, std::vector<Contribution>>> of;
  /// Tensors that the values read, each after those that it reads: where a maximum is, running sums from the
  /// end.
  std::vector<Binding> helpers;
};

/// `cotangent` is a tensor of the comprehension's type. Reductions whose values derivatives need stand at the
/// top of the body (split_reductions). Only tensors of floating-point numbers take part.
Contributions contributions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                            ExprPtr cotangent);

/// The conditions on dims that an expression of bool is the conjunction of, each >= 0 or == 0; false where it
/// is none.
bool dim_conditions(ExprPtr condition, std::vector<Dim>& nonnegative, std::vector<Dim>& zero);
/// Whether each of the read's indices is inside the bounds; null where that is known.
ExprPtr is_inside(const ScalarBuilder& build, const ReadExpr& read);
/// Whether a variable of the list occurs in the expression.
bool mentions(ExprPtr expr, Dim var);

}  // namespace quern
