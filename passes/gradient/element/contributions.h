#pragma once
// The cotangents of the reads of an index expression: reverse-mode differentiation of the expression of one
// element.

#include <unordered_map>
#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// At each point of `vars` (0 <= vars[k] < extents[k], an extent may mention earlier variables) where all of
/// `zero` are 0, all of `nonnegative` are >= 0 and `condition` holds (null: always), the element that `read`
/// reads there receives `value`, which is 0 where `condition` does not hold.
struct Contribution {
  const ReadExpr* read;
  std::vector<Dim> vars, extents;
  std::vector<Dim> zero, nonnegative;
  ExprPtr condition;
  ExprPtr value;
};

struct Contributions {
  /// In source order.
  std::vector<std::pair<const Variable*, std::vector<Contribution>>> of;
  /// Tensors that the values read, each after those it reads: positions of maxima, running sums from the end.
  std::vector<Binding> helpers;
};

/// `cotangent` is a tensor of the comprehension's type. Reductions whose values derivatives need must be at
/// the top of the body (split_reductions). Only floating-point tensors take part.
Contributions contributions(const ScalarBuilder& build, const ComprehensionExpr& comprehension,
                            ExprPtr cotangent);

/// The condition that all of the read's indices are in bounds; null if that is proved.
ExprPtr is_inside(const ScalarBuilder& build, const ReadExpr& read);

}  // namespace quern
