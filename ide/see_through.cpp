#include "ide/see_through.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "passes/pass.h"

namespace quern::ide {

namespace {

ExprPtr block_of(Arena& arena, const BlockExpr& like, const std::vector<quern::Binding>& bindings,
                 ExprPtr result) {
  if (bindings.empty()) return result;
  BlockExpr block = like;
  block.bindings = arena.copy(bindings);
  block.result = result;
  return arena.make<BlockExpr>(block);
}

/// The block without its k-th binding, whose value replaces its variable in what follows.
ExprPtr without_binding(Arena& arena, const BlockExpr& block, size_t k) {
  const quern::Binding& gone = block.bindings[k];
  std::vector<quern::Binding> bindings(block.bindings.begin(),
                                       block.bindings.begin() + static_cast<ptrdiff_t>(k));
  const std::vector<quern::Binding> after(block.bindings.begin() + static_cast<ptrdiff_t>(k) + 1,
                                          block.bindings.end());
  ExprSubstitution at;
  at.variables.emplace(gone.variable, gone.value);
  const ExprPtr rest = substitute(arena, block_of(arena, block, after, block.result), at);
  if (after.empty()) return block_of(arena, block, bindings, rest);
  auto* others = as<BlockExpr>(rest);
  bindings.insert(bindings.end(), others->bindings.begin(), others->bindings.end());
  return block_of(arena, block, bindings, others->result);
}

}  // namespace

ExprPtr with_value_in_place(Arena& arena, ExprPtr expr, const IsBinding& is_it) {
  bool found = false;
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    if (found) return e;
    if (auto* block = as<BlockExpr>(e)) {
      const auto it = std::ranges::find_if(block->bindings, is_it);
      if (it != block->bindings.end()) {
        found = true;
        return without_binding(arena, *block, static_cast<size_t>(it - block->bindings.begin()));
      }
    }
    return map_children(arena, e, rewrite);
  };
  const ExprPtr result = rewrite(expr);
  return found ? result : nullptr;
}

ExprPtr with_lets(Arena& arena, ExprPtr expr, VariableMap& variables) {
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    if (auto* var = as<VarExpr>(e)) {
      const auto other = variables.find(var->variable);
      if (other == variables.end()) return e;
      VarExpr copy = *var;
      copy.variable = other->second;
      return arena.make<VarExpr>(copy);
    }
    if (auto* block = as<BlockExpr>(e)) {
      std::vector<quern::Binding> bindings(block->bindings.begin(), block->bindings.end());
      for (quern::Binding& binding : bindings) {
        binding.value = rewrite(binding.value);
        const Variable* bound = binding.variable;
        if (!bound || !bound->graph) continue;
        binding.variable = variables[bound] = make_variable(arena, bound->name, bound->type);
      }
      return block_of(arena, *block, bindings, rewrite(block->result));
    }
    return map_children(arena, e, rewrite);
  };
  return rewrite(expr);
}

ExprPtr without_schedules(Arena& arena, ExprPtr expr) {
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    const ExprPtr inner = map_children(arena, e, rewrite);
    auto* call = as<OpCallExpr>(inner);
    if (!call || !call->schedule) return inner;
    OpCallExpr copy = *call;
    copy.schedule = nullptr;
    return arena.make<OpCallExpr>(copy);
  };
  return rewrite(expr);
}

ExprPtr with_body_in_place(Arena& arena, ExprPtr expr, std::string_view global, const Definition& function) {
  auto* fn = as<FnExpr>(function.body);
  if (!fn) return expr;
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    auto* call = as<CallExpr>(e);
    auto* callee = call ? as<GlobalExpr>(call->callee) : nullptr;
    if (!callee || callee->name != global) return map_children(arena, e, rewrite);
    ExprSubstitution at;
    at.call = &call->origin;
    for (size_t i = 0; i < std::min(function.scheme.dim_vars.size(), callee->dims.size()); ++i)
      at.types.dims.emplace(function.scheme.dim_vars[i], callee->dims[i]);
    for (size_t i = 0; i < std::min(function.scheme.type_vars.size(), callee->types.size()); ++i)
      at.types.types.emplace(function.scheme.type_vars[i], callee->types[i]);
    return body_at(arena, *fn, call->args, at);
  };
  return rewrite(expr);
}

ExprPtr with_operator_in_place(Arena& arena, ExprPtr expr, std::string_view op, FunctionSource& functions) {
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    auto* call = as<OpCallExpr>(e);
    if (!call || call->instance->name != op) return map_children(arena, e, rewrite);
    const std::shared_ptr<const OpInstance> instance = functions.instance(*call->instance);
    if (!instance->function) return e;
    arena.keep(instance->arena);
    ExprSubstitution at;
    at.call = &call->origin;
    for (size_t i = 0; i < std::min(instance->dim_vars.size(), call->dims.size()); ++i)
      at.types.dims.emplace(instance->dim_vars[i], call->dims[i]);
    return body_at(arena, *instance->function, call->args, at);
  };
  return rewrite(expr);
}

}  // namespace quern::ide
