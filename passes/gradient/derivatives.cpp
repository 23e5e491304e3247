#include "passes/gradient/derivatives.h"

#include "frontend/infer/infer.h"
#include "passes/gradient/tape/tape.h"
#include "passes/inline_local.h"
#include "passes/simplify_index.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

class Derivatives {
 public:
  Derivatives(const PassContext& context, const FnExpr& function)
      : context_(context),
        arena_(context.arena),
        build_(arena_, function.origin),
        params_(function.params.begin(), function.params.end()),
        dims_(function.dim_vars) {}

  // `fn (params) { backward(params, 1) }`, without the value if it is not needed.
  const FnExpr* of_one(const FnExpr& backward, bool with_value) {
    auto [cotangent, bindings, pair] = parts_of(backward);
    bindings.insert(bindings.begin(), {cotangent, filled(cotangent->type, 1)});
    return function(with_value ? pair : pair->fields[1], bindings);
  }

  std::variant<const FnExpr*, std::vector<Underivable>> forward(const FnExpr& backward) {
    auto [cotangent, unused, value_and_gradients] = parts_of(backward);
    auto* pull = as<FnExpr>(
        to_anf(context_, simplify_index(context_, inline_local(context_, only_of(cotangent, backward)))));
    // The value does not depend on the cotangent, and is among the values computed on the way.
    auto [same, on_the_way, pair] = parts_of(*pull);
    ExprPtr value = pair->fields[0];
    const FnExpr* linear = only_of(same, block(pair->fields[1], on_the_way));
    auto push = vector_jacobian(arena_, *linear);
    if (auto* problems = std::get_if<std::vector<Underivable>>(&push)) return std::move(*problems);
    auto [tangents, bindings, result] = parts_of(*std::get<VectorJacobian>(push).function);
    std::vector<ExprPtr> fields;
    for (Type type : tangents->type->args) {
      params_.push_back(make_variable(arena_, "tangent", type));
      fields.push_back(read(params_.back()));
    }
    bindings.insert(bindings.begin(), {{same, filled(same->type, 0)}, {tangents, tuple(fields)}});
    return function(tuple({value, as<TupleExpr>(result->fields[1])->fields[0]}), bindings);
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
  const FnExpr* only_of(const Variable* param, const FnExpr& of) { return only_of(param, of.body); }
  const FnExpr* only_of(const Variable* param, ExprPtr body) { return literal({param}, body, {}); }
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

  const PassContext& context_;
  Arena& arena_;
  ScalarBuilder build_;
  std::vector<const Variable*> params_;
  std::span<const Dim> dims_;
};

}  // namespace

std::variant<const FnExpr*, std::vector<Underivable>> derivative(const PassContext& context,
                                                                 IntrinsicKind kind, const FnExpr& function) {
  auto reverse = needs_tape(function.body) ? tape_vector_jacobian(context, function)
                                           : vector_jacobian(context.arena, function);
  if (auto* problems = std::get_if<std::vector<Underivable>>(&reverse)) return std::move(*problems);
  const FnExpr* backward = std::get<VectorJacobian>(reverse).function;
  Derivatives of(context, function);
  switch (kind) {
    case IntrinsicKind::VectorJacobian: return backward;
    case IntrinsicKind::JacobianVector: return of.forward(*backward);
    default: return of.of_one(*backward, kind == IntrinsicKind::ValueAndGradient);
  }
}

}  // namespace quern
