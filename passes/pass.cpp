#include "passes/pass.h"

namespace quern {

bool is_atom(ExprPtr expr) {
  return expr->kind == ExprKind::Var || (expr->kind == ExprKind::Const && expr->type->is_scalar());
}

}  // namespace quern
