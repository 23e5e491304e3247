#pragma once
// The adjoint of an index expression, as index expressions.

#include <optional>
#include <string>
#include <vector>

#include "passes/gradient/element/contributions.h"

namespace quern {

/// Why a gradient is accumulated by a `scatter`: its index equations have no solution in the supported class.
struct ScatterFallback {
  Origin origin;  ///< of the read
  std::string reason;
};

/// The cotangents that a comprehension passes to the tensors it reads.
struct Adjoint {
  std::vector<Binding> bindings;  ///< in order
  /// The gradient of each variable: a variable bound above.
  std::vector<std::pair<const Variable*, ExprPtr>> gradients;
  std::vector<ScatterFallback> fallbacks;
};

/// The vector-Jacobian product of the comprehension, as a function of the tensors it reads, with `cotangent`,
/// a tensor of its type.
Adjoint adjoint(Arena& arena, const ComprehensionExpr& comprehension, ExprPtr cotangent);

/// Why a read's contribution to a tensor of this shape is accumulated by a `scatter` although its indices are
/// dims; nothing if it is gathered, or if the indices are data.
std::optional<std::string> scatter_reason(const Contribution& contribution, std::span<const Dim> shape);

}  // namespace quern
