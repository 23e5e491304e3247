#pragma once
// IR by hand, for tests of ir/.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"

namespace quern {

/// Makes nodes in an arena of its own. Every node gets the next origin {1, n}, which tests of positions read
/// back.
class IrBuilder {
 public:
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();

  template <class T>
  std::span<const T> list(const std::vector<T>& items) {
    return arena->copy(items);
  }
  Expr base(ExprKind kind, Type type) { return {kind, type, {1, next_node_++}}; }

  const Variable* variable(std::string_view name, Type type) { return make_variable(*arena, name, type); }
  ExprPtr var(const Variable* v) { return arena->make<VarExpr>(base(ExprKind::Var, v->type), v); }

  ExprPtr constant(TensorPtr tensor) {
    std::vector<Dim> dims;
    for (int64_t extent : tensor->shape()) dims.push_back(dim_const(extent));
    Type type = tensor_type(dims, tensor->dtype());
    return arena->make<ConstExpr>(base(ExprKind::Const, type), std::move(tensor));
  }
  ExprPtr scalar(const Scalar& value) { return constant(Value(value).as_tensor()); }
  ExprPtr i32(int64_t value) { return scalar(Scalar::from_int(DType::int32(), value)); }
  ExprPtr f32(double value) { return scalar(Scalar::from_double(DType::float32(), value)); }

  ExprPtr dim(Dim d) {
    return arena->make<DimValueExpr>(base(ExprKind::DimValue, scalar_type(DType::index())), d);
  }
  ExprPtr op(ScalarOp op, const std::vector<ExprPtr>& args) {
    Type type = scalar_type(result_dtype(op, args[0]->type->dtype));
    return arena->make<ScalarExpr>(base(ExprKind::Scalar, type), op, false, list(args));
  }
  ExprPtr cast(ExprPtr arg, DType to) {
    std::vector<ExprPtr> args = {arg};
    return arena->make<ScalarExpr>(base(ExprKind::Scalar, scalar_type(to)), ScalarOp::Add, true, list(args));
  }
  ExprPtr read(ExprPtr tensor, const std::vector<ExprPtr>& indices, const std::vector<bool>& checked = {},
               ExprPtr otherwise = nullptr) {
    std::vector<bool> flags = checked;
    flags.resize(indices.size());
    Type type = scalar_type(tensor->type->dtype);
    return arena->make<ReadExpr>(base(ExprKind::Read, type), tensor, list(indices), arena->copy(flags),
                                 otherwise);
  }
  ExprPtr reduce(ReduceKind kind, const std::vector<Dim>& vars, const std::vector<Dim>& extents,
                 ExprPtr body) {
    Type type = is_arg(kind) ? scalar_type(DType::index()) : body->type;
    return arena->make<ReduceExpr>(base(ExprKind::Reduce, type), kind, list(vars), list(extents), body);
  }
  ExprPtr scan(ReduceKind kind, Dim var, Dim extent, ExprPtr body) {
    return arena->make<ScanExpr>(base(ExprKind::Scan, body->type), kind, list<Dim>({var}),
                                 list<Dim>({extent}), body);
  }
  ExprPtr scatter(ScatterKind kind, const std::vector<Dim>& vars, const std::vector<Dim>& extents,
                  ExprPtr init, const std::vector<ExprPtr>& indices, ExprPtr value) {
    return arena->make<ScatterExpr>(base(ExprKind::Scatter, init->type), kind, list(vars), list(extents),
                                    init, list(indices), arena->copy(std::vector<bool>(indices.size(), true)),
                                    value);
  }
  ExprPtr comprehension(const std::vector<Dim>& vars, const std::vector<Dim>& extents, ExprPtr body) {
    Type type = tensor_type(extents, body->type->dtype);
    return arena->make<ComprehensionExpr>(base(ExprKind::Comprehension, type), list(vars), list(extents),
                                          body);
  }
  ExprPtr view(ExprPtr tensor, const std::vector<Dim>& dims) {
    return arena->make<ViewExpr>(base(ExprKind::View, tensor_type(dims, tensor->type->dtype)), tensor);
  }

  const FnExpr* fn(const std::vector<const Variable*>& params, ExprPtr body,
                   const std::vector<Dim>& dim_vars = {}) {
    std::vector<Type> types;
    types.reserve(params.size());
    for (const Variable* param : params) types.push_back(param->type);
    return arena->make<FnExpr>(base(ExprKind::Fn, function_type(types, body->type)), list(params),
                               list(dim_vars), body, false);
  }
  ExprPtr call(ExprPtr callee, const std::vector<ExprPtr>& args) {
    return arena->make<CallExpr>(base(ExprKind::Call, callee->type->result()), callee, list(args));
  }
  ExprPtr global(std::string_view name, Type type, const std::vector<Dim>& dims = {}) {
    return arena->make<GlobalExpr>(base(ExprKind::Global, type), arena->copy(name), list(dims),
                                   std::span<const Type>());
  }
  ExprPtr block(const std::vector<Binding>& bindings, ExprPtr result) {
    return arena->make<BlockExpr>(base(ExprKind::Block, result->type), list(bindings), result);
  }
  ExprPtr branch(ExprPtr condition, ExprPtr then_arm, ExprPtr else_arm) {
    return arena->make<IfExpr>(base(ExprKind::If, then_arm->type), condition, then_arm, else_arm);
  }
  ExprPtr tuple(const std::vector<ExprPtr>& fields) {
    std::vector<Type> types;
    types.reserve(fields.size());
    for (ExprPtr field : fields) types.push_back(field->type);
    return arena->make<TupleExpr>(base(ExprKind::Tuple, tuple_type(types)), list(fields));
  }
  ExprPtr field(ExprPtr tuple, uint32_t index) {
    return arena->make<FieldExpr>(base(ExprKind::Field, tuple->type->args[index]), tuple, index,
                                  std::string_view());
  }
  ExprPtr construct(Type type, const Constructor& constructor, const std::vector<ExprPtr>& fields) {
    return arena->make<ConstructExpr>(base(ExprKind::Construct, type), &constructor, constructor.name,
                                      list(fields));
  }
  const IntrinsicExpr* intrinsic(IntrinsicKind kind, Type type, const std::vector<ExprPtr>& args,
                                 const std::vector<std::string_view>& texts) {
    return arena->make<IntrinsicExpr>(base(ExprKind::Intrinsic, type), kind, list(args), list(texts));
  }
  ExprPtr error() { return arena->make<ErrorExpr>(base(ExprKind::Error, error_type())); }

  const OpInstance* instance(const std::string& name, std::vector<Dim> dim_vars, const FnExpr* function) {
    // The instance lives in the arena itself and so must not keep it.
    return arena->make<OpInstance>(OpInstance{name, name, {}, std::move(dim_vars), function, 0, nullptr});
  }
  ExprPtr op_call(const OpInstance* op, Type type, const std::vector<Dim>& dims,
                  const std::vector<ExprPtr>& args) {
    return arena->make<OpCallExpr>(base(ExprKind::OpCall, type), op, list(dims), list(args));
  }

 private:
  uint32_t next_node_ = 1;
};

}  // namespace quern
