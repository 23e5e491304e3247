#include "passes/gradient/drop_derivatives.h"

namespace quern {

ExprPtr drop_derivatives(const PassContext& context, ExprPtr expr) {
  auto* e = as<IntrinsicExpr>(expr);
  if (e && e->intrinsic >= IntrinsicKind::Checkpoint) return drop_derivatives(context, e->args[0]);
  return map_children(context.arena, expr, [&](ExprPtr child) { return drop_derivatives(context, child); });
}

}  // namespace quern
