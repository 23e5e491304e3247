#pragma once
// What the reads of an index expression pass on: reverse differentiation of the expression of one element.

#include <unordered_map>
#include <vector>

#include "passes/scalar_builder.h"

namespace quern {

/// At each point of `vars` (0 <= vars[k] < extents[k], an extent may mention earlier variables) where all of
/// `zero` are 0, all of `nonnegative` are >= 0 and `condition` holds (null: always), the element of its
/// tensor that `read` reads there takes `value`, which is 0 where `condition` does not hold.
struct Contribution {
  const ReadExpr* read;
  std::vector<Dim> vars, extents;
  std::vector<Dim> zero, nonnegative;
  ExprPtr condition;
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

/// Whether each of the read's indices is inside the bounds; null where that is known.
ExprPtr is_inside(const ScalarBuilder& build, const ReadExpr& read);

}  // namespace quern
