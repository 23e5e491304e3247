#include "passes/pass.h"

#include <algorithm>

namespace quern {

bool is_atom(ExprPtr expr) {
  if (expr->kind == ExprKind::Var) return true;
  auto* constant = as<ConstExpr>(expr);
  return constant && constant->type->is_scalar() && lanes_agree(*constant->value);
}

ExprPtr read_of(Arena& arena, const Variable* variable, Origin origin) {
  return arena.make<VarExpr>(Expr{ExprKind::Var, variable->type, origin}, variable);
}

ExprPtr block_of(Arena& arena, const std::vector<Binding>& bindings, ExprPtr result, Origin origin) {
  if (bindings.empty()) return result;
  return arena.make<BlockExpr>(Expr{ExprKind::Block, result->type, origin}, arena.copy(bindings), result);
}

const FnExpr* function_literal(Arena& arena, const std::vector<const Variable*>& params,
                               std::span<const Dim> dims, ExprPtr body, Origin origin) {
  std::vector<Type> types;
  types.reserve(params.size());
  for (const Variable* param : params) types.push_back(param->type);
  return arena.make<FnExpr>(Expr{ExprKind::Fn, function_type(types, body->type), origin}, arena.copy(params),
                            dims, body, false);
}

std::optional<bool> known_condition(ExprPtr condition) {
  auto* e = as<ConstExpr>(condition);
  bool scalar = e && e->type->dims.empty() && e->type->dtype == DType::boolean();
  return scalar ? std::optional(*e->value->data() != std::byte(0)) : std::nullopt;
}

size_t count_nodes(ExprPtr expr) {
  size_t count = 1;
  for_each_child(expr, [&](ExprPtr child) { count += count_nodes(child); });
  return count;
}

namespace {

bool is_given_before(std::span<const ExprPtr> args, size_t i) {
  auto* var = as<VarExpr>(args[i]);
  return var && std::ranges::any_of(args.first(i), [&](ExprPtr other) {
           auto* same = as<VarExpr>(other);
           return same && same->variable == var->variable;
         });
}

bool has_scheduled_tensors(ExprPtr expr) {
  auto* e = as<ComprehensionExpr>(expr);
  bool found = e && !e->scheduled.empty();
  for_each_child(expr, [&](ExprPtr child) { found = found || has_scheduled_tensors(child); });
  return found;
}

}  // namespace

bool opens_dims(ExprPtr value) {
  if (auto* check = as<CheckDimsExpr>(value)) return !check->opened.empty();
  return value->kind == ExprKind::Extern &&
         std::ranges::any_of(value->type->dims, [](Dim d) { return !as_const(d); });
}

Substitution at_use(const Definition& definition, const GlobalExpr& use) {
  Substitution at;
  for (size_t i = 0; i < definition.scheme.dim_vars.size() && i < use.dims.size(); ++i)
    at.dims.emplace(definition.scheme.dim_vars[i], use.dims[i]);
  for (size_t i = 0; i < definition.scheme.type_vars.size() && i < use.types.size(); ++i)
    at.types.emplace(definition.scheme.type_vars[i], use.types[i]);
  return at;
}

ExprPtr body_at(Arena& arena, const FnExpr& function, std::span<const ExprPtr> args, ExprSubstitution at) {
  std::vector<Binding> bindings;
  for (size_t i = 0; i < function.params.size(); ++i) {
    ExprPtr arg = args[i];
    // A schedule that names one of two parameters means only that one, even if both are the same tensor.
    if (arg->type->is_tensor() && is_given_before(args, i) && has_scheduled_tensors(function.body))
      arg = arena.make<ViewExpr>(Expr{ExprKind::View, arg->type, arg->origin}, arg);
    if (!is_atom(arg)) {
      const Variable* variable = make_variable(arena, function.params[i]->name, arg->type);
      bindings.push_back({variable, arg});
      arg = read_of(arena, variable, arg->origin);
    }
    at.variables.emplace(function.params[i], arg);
  }
  return block_of(arena, bindings, substitute(arena, function.body, at), *at.call);
}

ExprPtr map_block(Arena& arena, const BlockExpr& block, const std::function<ExprPtr(ExprPtr)>& map,
                  const std::function<void(const Variable*, ExprPtr)>& bound) {
  std::vector<Binding> bindings;
  bindings.reserve(block.bindings.size());
  bool changed = false;
  for (const Binding& b : block.bindings) {
    ExprPtr value = map(b.value);
    changed = changed || value != b.value;
    if (b.variable) bound(b.variable, value);
    bindings.push_back({b.variable, value});
  }
  ExprPtr result = map(block.result);
  if (!changed && result == block.result) return &block;
  Expr head = block;
  return arena.make<BlockExpr>(head, arena.copy(bindings), result);
}

}  // namespace quern
