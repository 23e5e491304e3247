#pragma once
// The adjoint of an index expression, as index expressions.

#include <optional>
#include <string>
#include <vector>

#include "passes/gradient/contributions.h"

namespace quern {

/// Why a gradient is added up by a `scatter`: its index equations have no solution of the kind that is looked
/// for.
struct ScatterFallback {
  Origin origin;  ///< of the read
  std::string reason;
};

/// What a comprehension passes on to the tensors that it reads.
struct Adjoint {
  std::vector<Binding> bindings;  ///< in order
  /// Of each variable its gradient: a variable that is bound above.
  std::vector<std::pair<const Variable*, ExprPtr>> gradients;
  std::vector<ScatterFallback> fallbacks;
};

/// The vector-Jacobian product of the function that the comprehension is of the tensors it reads, with
/// `cotangent`, a tensor of its type.
Adjoint adjoint(Arena& arena, const ComprehensionExpr& comprehension, ExprPtr cotangent);

/// Why what a read passes on to a tensor of this shape is added up by a `scatter`, although its indices are
/// dims; nothing where it is gathered, or where data say what is read.
std::optional<std::string> scatter_reason(const Contribution& contribution, std::span<const Dim> shape);

}  // namespace quern
