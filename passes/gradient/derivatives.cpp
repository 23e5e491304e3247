#include "passes/gradient/derivatives.h"

#include "passes/gradient/forward.h"
#include "passes/gradient/lifting/dual.h"
#include "passes/gradient/lifting/program.h"
#include "passes/gradient/lifting/tape.h"

namespace quern {

namespace {

class Derivatives {
 public:
  Derivatives(const PassContext& context, const FnExpr& function)
      : arena_(context.arena),
        build_(arena_, function.origin),
        params_(function.params.begin(), function.params.end()),
        dims_(function.dim_vars) {}

  // `fn (params) { backward(params, 1) }`, without the value if it is not needed.
  const FnExpr* of_one(const FnExpr& backward, bool with_value) {
    auto [cotangent, bindings, pair] = parts_of(backward);
    bindings.insert(bindings.begin(), {cotangent, filled(cotangent->type, 1)});
    return function(with_value ? pair : pair->fields[1], bindings);
  }

 private:
  struct Parts {
    const Variable* last;  ///< parameter
    std::vector<Binding> bindings;
    const TupleExpr* result;
  };
  static Parts parts_of(const FnExpr& function) {
    auto* block = as<BlockExpr>(function.body);
    std::vector<Binding> bindings;
    if (block) bindings.assign(block->bindings.begin(), block->bindings.end());
    return {function.params.back(), bindings, as<TupleExpr>(block ? block->result : function.body)};
  }

  ExprPtr read(const Variable* v) { return read_of(arena_, v, build_.origin()); }
  ExprPtr tuple(const std::vector<ExprPtr>& fields) { return build_.tuple(fields); }
  ExprPtr block(ExprPtr result, const std::vector<Binding>& bindings) {
    return block_of(arena_, bindings, result, build_.origin());
  }
  const FnExpr* function(ExprPtr result, const std::vector<Binding>& bindings) {
    return literal(params_, block(result, bindings), dims_);
  }
  const FnExpr* literal(const std::vector<const Variable*>& params, ExprPtr body, std::span<const Dim> dims) {
    return function_literal(arena_, params, dims, body, build_.origin());
  }

  // A cotangent filled with a number.
  ExprPtr filled(Type type, double number) {
    if (type->kind == TypeKind::Tuple) {
      std::vector<ExprPtr> fields;
      for (Type field : type->args) fields.push_back(filled(field, number));
      return tuple(fields);
    }
    std::vector<Dim> vars;
    for (size_t k = 0; k < type->dims.size(); ++k) vars.push_back(dim_var("i"));
    ExprPtr one = build_.constant(number, type->dtype);
    return vars.empty() ? one : build_.comprehension(vars, type->dims, one);
  }

  Arena& arena_;
  ScalarBuilder build_;
  std::vector<const Variable*> params_;
  std::span<const Dim> dims_;
};

}  // namespace

std::variant<const FnExpr*, std::vector<Underivable>> derivative(const PassContext& context,
                                                                 IntrinsicKind kind, const FnExpr& function) {
  const bool lifts = lifting::is_more_than_tensor_code(function.body);
  if (kind == IntrinsicKind::JacobianVector)
    return lifts ? dual_jacobian_vector(context, function) : jacobian_vector(context, function);
  auto reverse = lifts ? tape_vector_jacobian(context, function) : vector_jacobian(context.arena, function);
  if (auto* problems = std::get_if<std::vector<Underivable>>(&reverse)) return std::move(*problems);
  const FnExpr* backward = std::get<VectorJacobian>(reverse).function;
  Derivatives of(context, function);
  if (kind == IntrinsicKind::VectorJacobian) return backward;
  return of.of_one(*backward, kind == IntrinsicKind::ValueAndGradient);
}

}  // namespace quern
