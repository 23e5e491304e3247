#include "passes/loops/tail_loop.h"

#include <algorithm>

#include "passes/loops/integer_dims.h"

namespace quern {

namespace {

bool is_var(ExprPtr expr, const Variable* variable) {
  auto* var = as<VarExpr>(expr);
  return var && var->variable == variable;
}

/// The value of the variable among the bindings; null if it has none.
ExprPtr value_of(ExprPtr expr, std::span<const Binding> bindings) {
  auto* var = as<VarExpr>(expr);
  if (!var) return expr;
  const auto bound = std::ranges::find(bindings, var->variable, &Binding::variable);
  return bound == bindings.end() ? nullptr : bound->value;
}

/// The operation that gives a value of rank 0.
const ScalarExpr* operation_of(ExprPtr value) {
  auto* whole = as<ComprehensionExpr>(value);
  return as<ScalarExpr>(whole && whole->vars.empty() ? whole->body : value);
}

bool calls_again(ExprPtr expr, const Variable* loop) {
  std::vector<const CallExpr*> calls;
  tail_calls(
      expr, [loop](ExprPtr callee) { return is_var(callee, loop); }, calls);
  return !calls.empty();
}

/// A comparison `left op right` that holds while a loop goes on.
struct Comparison {
  ScalarOp op;
  ExprPtr left, right;
};

std::optional<ScalarOp> negated(ScalarOp op) {
  switch (op) {
    case ScalarOp::Lt: return ScalarOp::Ge;
    case ScalarOp::Ge: return ScalarOp::Lt;
    case ScalarOp::Gt: return ScalarOp::Le;
    case ScalarOp::Le: return ScalarOp::Gt;
    case ScalarOp::Eq: return ScalarOp::Ne;
    case ScalarOp::Ne: return ScalarOp::Eq;
    default: return std::nullopt;
  }
}

ScalarOp mirrored(ScalarOp op) {
  switch (op) {
    case ScalarOp::Lt: return ScalarOp::Gt;
    case ScalarOp::Gt: return ScalarOp::Lt;
    case ScalarOp::Le: return ScalarOp::Ge;
    case ScalarOp::Ge: return ScalarOp::Le;
    default: return op;
  }
}

/// The value that a read of rank 0, or the value itself, is of.
ExprPtr unread(ExprPtr expr) {
  auto* read = as<ReadExpr>(expr);
  return read && read->indices.empty() ? read->tensor : expr;
}

std::optional<Comparison> comparison_of(ExprPtr condition, bool goes_on, std::span<const Binding> bindings) {
  auto* operation = operation_of(value_of(condition, bindings));
  if (!operation || operation->is_cast || operation->args.size() != 2) return std::nullopt;
  const std::optional<ScalarOp> other = negated(operation->op);
  if (!other) return std::nullopt;
  return Comparison{goes_on ? operation->op : *other, unread(operation->args[0]), unread(operation->args[1])};
}

/// Sets how the turns are counted, where the comparison and the calls inside say so.
void count_turns(const TailLoop& loop, Comparison goes_on, const BlockExpr& outside, Turn& turn) {
  const auto params = loop.function->params;
  auto position = [&](ExprPtr expr) {
    return std::ranges::find_if(params, [&](const Variable* param) { return is_var(expr, param); }) -
           params.begin();
  };
  if (position(goes_on.left) == std::ssize(params))
    goes_on = {mirrored(goes_on.op), goes_on.right, goes_on.left};
  const auto k = static_cast<size_t>(position(goes_on.left));
  if (k == params.size()) return;
  for (const CallExpr* call : loop.again) {
    auto* next = operation_of(value_of(call->args[k], turn.bindings));
    const bool counts = next && !next->is_cast && next->op == ScalarOp::Add && next->args.size() == 2 &&
                        is_var(unread(next->args[0]), params[k]);
    const std::optional<Dim> step = counts ? integer_dim(next->args[1]) : std::nullopt;
    if (!step || !is_const(*step, 1)) return;
  }
  const ExprPtr first = value_of(loop.enters->args[k], outside.bindings);
  const std::optional<Dim> begin = first ? integer_dim(first) : std::nullopt,
                           end = integer_dim(goes_on.right);
  if (!begin || !end) return;
  const Dim count = dim_sub(*end, *begin);
  const auto known = as_const(count);
  switch (goes_on.op) {
    case ScalarOp::Lt: turn.count = known && *known < 0 ? nullptr : count; break;
    case ScalarOp::Le: turn.count = known && *known >= 0 ? dim_add(count, dim_const(1)) : nullptr; break;
    case ScalarOp::Ne: turn.count = known && *known >= 0 ? count : nullptr; break;
    default: break;
  }
  // A dim that is no constant is not negative where it is a dim of a tensor.
  if (turn.count && !known && (!is_const(*begin, 0) || (*end)->kind != DimKind::Var)) turn.count = nullptr;
  if (!turn.count) return;
  turn.counter = params[k];
  turn.begin = *begin;
}

}  // namespace

void tail_calls(ExprPtr body, const std::function<bool(ExprPtr)>& is_function,
                std::vector<const CallExpr*>& out) {
  if (auto* block = as<BlockExpr>(body)) return tail_calls(block->result, is_function, out);
  if (auto* branch = as<IfExpr>(body)) {
    tail_calls(branch->then_arm, is_function, out);
    return tail_calls(branch->else_arm, is_function, out);
  }
  if (auto* match = as<MatchExpr>(body)) {
    for (const MatchArm& arm : match->arms) tail_calls(arm.body, is_function, out);
    return;
  }
  if (auto* call = as<CallExpr>(body); call && is_function(call->callee)) out.push_back(call);
}

std::optional<TailLoop> tail_loop(const BlockExpr& block, size_t binding, const Uses& uses) {
  const Variable* name = block.bindings[binding].variable;
  auto* function = as<FnExpr>(block.bindings[binding].value);
  const auto used = uses.find(name);
  if (!name || !function || function->primitive || !function->dim_vars.empty() || used == uses.end())
    return std::nullopt;
  TailLoop loop{name, binding, block.bindings.size(), function, nullptr, {}};
  const auto is_loop = [&](ExprPtr callee) { return is_var(callee, name); };
  tail_calls(function->body, is_loop, loop.again);
  if (loop.again.empty() || used->second != std::ssize(loop.again) + 1) return std::nullopt;
  const auto enters = [&](ExprPtr value) {
    auto* call = as<CallExpr>(value);
    return call && is_loop(call->callee) ? call : nullptr;
  };
  loop.enters = enters(block.result);
  for (size_t k = binding + 1; k < block.bindings.size() && !loop.enters; ++k) {
    loop.enters = enters(block.bindings[k].value);
    loop.first = k;
  }
  return loop.enters ? std::optional(loop) : std::nullopt;
}

std::unordered_set<const Variable*> invariant_params(const TailLoop& loop) {
  std::unordered_set<const Variable*> out;
  for (size_t k = 0; k < loop.function->params.size(); ++k)
    if (std::ranges::all_of(loop.again, [&](const CallExpr* call) {
          return is_var(call->args[k], loop.function->params[k]);
        }))
      out.insert(loop.function->params[k]);
  return out;
}

Turn turn_of(const TailLoop& loop, const BlockExpr& outside) {
  Turn turn;
  std::optional<Comparison> condition;
  int branches = 0;
  ExprPtr at = loop.function->body;
  while (true) {
    if (auto* block = as<BlockExpr>(at)) {
      turn.bindings.insert(turn.bindings.end(), block->bindings.begin(), block->bindings.end());
      at = block->result;
      continue;
    }
    auto* branch = as<IfExpr>(at);
    if (!branch) break;
    const bool then = calls_again(branch->then_arm, loop.name),
               otherwise = calls_again(branch->else_arm, loop.name);
    ++branches;
    if (then == otherwise) break;
    condition = comparison_of(branch->condition, then, turn.bindings);
    at = then ? branch->then_arm : branch->else_arm;
  }
  if (at->kind == ExprKind::Call && branches == 1 && condition) count_turns(loop, *condition, outside, turn);
  return turn;
}

}  // namespace quern
