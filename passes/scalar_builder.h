#pragma once
// Builds the nodes of index expressions: scalar functions, comparisons of dims, reads; and tuples of tensors.

#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

class ScalarBuilder {
 public:
  /// Nodes go into the arena and have this origin.
  ScalarBuilder(Arena& arena, Origin origin) : arena_(arena), origin_(origin) {}

  ExprPtr apply(ScalarOp op, std::vector<ExprPtr> args) const;
  ExprPtr add(ExprPtr a, ExprPtr b) const { return apply(ScalarOp::Add, {a, b}); }
  ExprPtr sub(ExprPtr a, ExprPtr b) const { return apply(ScalarOp::Sub, {a, b}); }
  ExprPtr mul(ExprPtr a, ExprPtr b) const { return apply(ScalarOp::Mul, {a, b}); }
  ExprPtr div(ExprPtr a, ExprPtr b) const { return apply(ScalarOp::Div, {a, b}); }
  ExprPtr negate(ExprPtr a) const { return apply(ScalarOp::Neg, {a}); }
  ExprPtr cast(ExprPtr a, DType dtype) const;
  ExprPtr constant(double value, DType dtype) const;
  /// A constant of the dtype of `like`.
  ExprPtr constant_like(double value, ExprPtr like) const { return constant(value, like->type->dtype); }
  ExprPtr dim(Dim d) const;
  ExprPtr choose(ExprPtr condition, ExprPtr then_arm, ExprPtr else_arm) const;
  /// `value` where the condition holds, otherwise 0; the value itself without a condition.
  ExprPtr where(ExprPtr condition, ExprPtr value) const;
  /// The conjunction; either may be null, for no condition.
  ExprPtr both(ExprPtr a, ExprPtr b) const;
  /// d == 0 and d >= 0.
  ExprPtr is_zero(Dim d) const { return apply(ScalarOp::Eq, {dim(d), dim(dim_const(0))}); }
  ExprPtr is_nonnegative(Dim d) const { return apply(ScalarOp::Ge, {dim(d), dim(dim_const(0))}); }
  /// The element of a tensor at dims that are in bounds.
  ExprPtr read(ExprPtr tensor, std::span<const Dim> indices) const;
  /// The same at computed indices.
  ExprPtr read_at(ExprPtr tensor, const std::vector<ExprPtr>& indices) const;
  ExprPtr reduce(ReduceKind kind, std::span<const Dim> vars, std::span<const Dim> extents,
                 ExprPtr body) const;
  /// A tensor of the body's dtype.
  ExprPtr comprehension(std::span<const Dim> vars, std::span<const Dim> extents, ExprPtr body) const;
  /// A tuple of values.
  ExprPtr tuple(const std::vector<ExprPtr>& fields) const;
  /// A copy with fresh binders, at other dims.
  ExprPtr copy(ExprPtr expr, const DimMap& dims = {}) const;

  Arena& arena() const { return arena_; }
  Origin origin() const { return origin_; }

 private:
  Expr head(ExprKind kind, Type type) const { return {kind, type, origin_}; }
  Arena& arena_;
  Origin origin_;
};

}  // namespace quern
