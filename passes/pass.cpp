#include "passes/pass.h"

namespace quern {

bool is_atom(ExprPtr expr) {
  if (expr->kind == ExprKind::Var) return true;
  auto* constant = as<ConstExpr>(expr);
  return constant && constant->type->is_scalar() && lanes_agree(*constant->value);
}

}  // namespace quern
