#include "passes/dim_conditions.h"

namespace quern {

bool dim_conditions(ExprPtr condition, std::vector<Dim>& nonnegative, std::vector<Dim>& zero) {
  auto* e = as<ScalarExpr>(condition);
  if (!e || e->is_cast || e->args.size() != 2) return false;
  if (e->op == ScalarOp::And)
    return dim_conditions(e->args[0], nonnegative, zero) && dim_conditions(e->args[1], nonnegative, zero);
  auto *left = as<DimValueExpr>(e->args[0]), *right = as<DimValueExpr>(e->args[1]);
  if (!left || !right) return false;
  Dim distance = dim_sub(right->dim, left->dim);
  switch (e->op) {
    case ScalarOp::Lt: nonnegative.push_back(dim_sub(distance, dim_const(1))); return true;
    case ScalarOp::Le: nonnegative.push_back(distance); return true;
    case ScalarOp::Gt:
      nonnegative.push_back(dim_sub(dim_sub(dim_const(0), distance), dim_const(1)));
      return true;
    case ScalarOp::Ge: nonnegative.push_back(dim_sub(dim_const(0), distance)); return true;
    case ScalarOp::Eq: zero.push_back(distance); return true;
    default: return false;
  }
}

}  // namespace quern
