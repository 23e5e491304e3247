#include "passes/instantiate_ops.h"

#include <algorithm>

#include "ir/base/result.h"
#include "ir/expr/scheduled.h"

namespace quern {

namespace {

bool is_open(Type type) {
  return std::ranges::any_of(type->dims, [](Dim d) { return d->has_any; });
}

// The tensor with the shape of the call's type. Checks at the call can make it simpler than the definition's:
// broadcast(n, 2) is 2 if n is.
ExprPtr shaped_as(Arena& arena, ExprPtr body, Type type) {
  if (body->type == type || !type->is_tensor() || is_open(type)) return body;
  Expr head{body->kind, type, body->origin};
  if (auto* e = as<ComprehensionExpr>(body))
    return arena.make<ComprehensionExpr>(head, e->vars, arena.copy(type->dims), e->body, e->schedule,
                                         e->scheduled);
  if (auto* e = as<ViewExpr>(body)) return arena.make<ViewExpr>(head, e->tensor);
  if (auto* e = as<BlockExpr>(body)) {
    ExprPtr result = shaped_as(arena, e->result, type);
    return arena.make<BlockExpr>(Expr{body->kind, result->type, body->origin}, e->bindings, result);
  }
  return body;
}

ExprPtr definition_at(Arena& arena, const OpCallExpr& call, const OpInstance& instance) {
  FnExpr function = *instance.function;
  if (call.schedule)
    if (ExprPtr body = with_schedule(arena, function.body, *call.schedule, function.params))
      function.body = body;
  ExprSubstitution substitution;
  substitution.call = &call.origin;
  for (size_t i = 0; i < instance.dim_vars.size() && i < call.dims.size(); ++i)
    substitution.types.dims.emplace(instance.dim_vars[i], call.dims[i]);
  for (size_t i = call.dims.size(); i < instance.dim_vars.size(); ++i)
    substitution.types.dims.emplace(instance.dim_vars[i], dim_var(instance.dim_vars[i]->name));
  return shaped_as(arena, body_at(arena, function, call.args, std::move(substitution)), call.type);
}

}  // namespace

ExprPtr instantiate_ops(const PassContext& context, ExprPtr expr) {
  ExprPtr result =
      map_children(context.arena, expr, [&](ExprPtr child) { return instantiate_ops(context, child); });
  auto* call = as<OpCallExpr>(result);
  if (!call) return result;
  std::shared_ptr<const OpInstance> instance = context.functions.instance(*call->instance);
  QUERN_CHECK(instance->function != nullptr);
  context.arena.keep(instance->arena);
  ExprPtr body = definition_at(context.arena, *call, *instance);
  // A composite's body contains operator calls; the arguments contain none any more.
  bool composite = instance->function->body->kind != ExprKind::Comprehension;
  return composite ? instantiate_ops(context, body) : body;
}

}  // namespace quern
