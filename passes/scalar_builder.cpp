#include "passes/scalar_builder.h"

#include <algorithm>

namespace quern {

ExprPtr ScalarBuilder::apply(ScalarOp op, std::vector<ExprPtr> args) const {
  DType dtype = result_dtype(op, args[0]->type->dtype);
  return arena_.make<ScalarExpr>(head(ExprKind::Scalar, scalar_type(dtype)), op, false, arena_.copy(args));
}

ExprPtr ScalarBuilder::cast(ExprPtr a, DType dtype) const {
  if (a->type->dtype == dtype) return a;
  std::vector<ExprPtr> args{a};
  return arena_.make<ScalarExpr>(head(ExprKind::Scalar, scalar_type(dtype)), ScalarOp::Add, true,
                                 arena_.copy(args));
}

ExprPtr ScalarBuilder::constant(double value, DType dtype) const {
  TensorPtr tensor = HostTensor::make(dtype, {});
  Scalar scalar = Scalar::from_double(dtype, value);
  std::copy_n(reinterpret_cast<const std::byte*>(&scalar.bits), dtype.bytes(), tensor->data());
  return arena_.make<ConstExpr>(head(ExprKind::Const, scalar_type(dtype)), tensor);
}

ExprPtr ScalarBuilder::dim(Dim d) const {
  return arena_.make<DimValueExpr>(head(ExprKind::DimValue, scalar_type(DType::index())), d);
}

ExprPtr ScalarBuilder::choose(ExprPtr condition, ExprPtr then_arm, ExprPtr else_arm) const {
  return arena_.make<IfExpr>(head(ExprKind::If, then_arm->type), condition, then_arm, else_arm);
}

ExprPtr ScalarBuilder::where(ExprPtr condition, ExprPtr value) const {
  return condition ? choose(condition, value, constant_like(0, value)) : value;
}

ExprPtr ScalarBuilder::both(ExprPtr a, ExprPtr b) const {
  if (!a || !b) return a ? a : b;
  return apply(ScalarOp::And, {a, b});
}

ExprPtr ScalarBuilder::read(ExprPtr tensor, std::span<const Dim> indices) const {
  std::vector<ExprPtr> at;
  for (Dim d : indices) at.push_back(dim(d));
  return read_at(tensor, at);
}

ExprPtr ScalarBuilder::read_at(ExprPtr tensor, const std::vector<ExprPtr>& indices) const {
  return arena_.make<ReadExpr>(head(ExprKind::Read, scalar_type(tensor->type->dtype)), tensor,
                               arena_.copy(indices), arena_.copy(std::vector<bool>(indices.size())), nullptr);
}

ExprPtr ScalarBuilder::reduce(ReduceKind kind, std::span<const Dim> vars, std::span<const Dim> extents,
                              ExprPtr body) const {
  if (vars.empty()) return body;
  Type type = is_arg(kind) ? scalar_type(DType::index()) : body->type;
  return arena_.make<ReduceExpr>(head(ExprKind::Reduce, type), kind,
                                 arena_.copy(std::vector<Dim>(vars.begin(), vars.end())),
                                 arena_.copy(std::vector<Dim>(extents.begin(), extents.end())), body);
}

ExprPtr ScalarBuilder::comprehension(std::span<const Dim> vars, std::span<const Dim> extents,
                                     ExprPtr body) const {
  std::vector<Dim> shape(extents.begin(), extents.end());
  return arena_.make<ComprehensionExpr>(head(ExprKind::Comprehension, tensor_type(shape, body->type->dtype)),
                                        arena_.copy(std::vector<Dim>(vars.begin(), vars.end())),
                                        arena_.copy(shape), body);
}

ExprPtr ScalarBuilder::tuple(const std::vector<ExprPtr>& fields) const {
  std::vector<Type> types;
  types.reserve(fields.size());
  for (ExprPtr f : fields) types.push_back(f->type);
  return arena_.make<TupleExpr>(head(ExprKind::Tuple, tuple_type(types)), arena_.copy(fields));
}

ExprPtr ScalarBuilder::copy(ExprPtr expr, const DimMap& dims) const {
  ExprSubstitution substitution;
  substitution.types.dims = dims;
  return substitute(arena_, expr, substitution);
}

}  // namespace quern
