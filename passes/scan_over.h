#pragma once
// Nodes of `scan_over`.

#include "passes/pass.h"

namespace quern {

/// The node, if the expression is a scan; else null.
const IntrinsicExpr* as_scan(ExprPtr expr);
inline bool is_reverse(const IntrinsicExpr& scan) { return !scan.texts.empty(); }

/// A scan: its function, the first carry, and what it goes over.
const IntrinsicExpr* scan_over(Arena& arena, Origin origin, const FnExpr* step, ExprPtr begin, ExprPtr rows,
                               bool reverse = false);

}  // namespace quern
