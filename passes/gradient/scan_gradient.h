#pragma once
// The gradient of `scan_over`: a scan in the other direction, over what the forward one keeps of its steps.

#include <variant>
#include <vector>

#include "passes/gradient/reverse.h"

namespace quern {

struct ScanGradient {
  /// As the scan, with what is kept as further rows: of type `(carry, (rows, kept))`.
  const IntrinsicExpr* forward;
  /// `fn ((carry', captured'...), (row, kept, result')) -> ((carry', captured'...), row')`, with ' for
  /// gradients.
  const FnExpr* backward;
  std::vector<const Variable*> captured;  ///< those with gradients
  std::vector<ScatterFallback> fallbacks;
};

/// Kept are the carry before each step, and values that cost more than to read them: of reductions, scans and
/// calls. The others are computed again.
std::variant<ScanGradient, std::vector<Underivable>> scan_gradient(Arena& arena, const IntrinsicExpr& scan);

}  // namespace quern
