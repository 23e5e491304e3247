#include "passes/loops/integer_dims.h"

namespace quern {

namespace {

std::optional<Dim> of_operation(const ScalarExpr& e) {
  const std::optional<Dim> left = e.args.empty() ? std::nullopt : integer_dim(e.args[0]);
  if (e.is_cast || !left) return left;
  const std::optional<Dim> right = e.args.size() == 2 ? integer_dim(e.args[1]) : std::nullopt;
  if (!right) return std::nullopt;
  switch (e.op) {
    case ScalarOp::Add: return dim_add(*left, *right);
    case ScalarOp::Sub: return dim_sub(*left, *right);
    case ScalarOp::Mul: return dim_mul(*left, *right);
    case ScalarOp::Min: return dim_min(*left, *right);
    case ScalarOp::Max: return dim_max(*left, *right);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Dim> integer_dim(ExprPtr expr) {
  const DType dtype = expr->type->is_scalar() ? expr->type->dtype : DType();
  if (dtype.is_vector() || !(dtype.is_index() || (dtype.is_int() && dtype.bytes() >= 4))) return std::nullopt;
  if (auto* dim = as<DimValueExpr>(expr)) return dim->dim;
  if (auto* constant = as<ConstExpr>(expr)) return dim_const(element_as_int(*constant->value, 0));
  if (auto* whole = as<ComprehensionExpr>(expr)) return integer_dim(whole->body);
  if (auto* operation = as<ScalarExpr>(expr)) return of_operation(*operation);
  return std::nullopt;
}

}  // namespace quern
