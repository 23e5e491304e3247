#include "passes/gradient/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "passes/dead_code.h"
#include "passes/gradient/reverse.h"
#include "passes/inline.h"
#include "passes/inline_local.h"
#include "passes/instantiate_ops.h"
#include "passes/simplify_index.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

bool is_gradient(const IntrinsicExpr& e) {
  return e.intrinsic == IntrinsicKind::Gradient || e.intrinsic == IntrinsicKind::ValueAndGradient;
}

class Expander {
 public:
  /// With `only_look` a gradient that can be made stays, but where another needs it.
  explicit Expander(const PassContext& context, bool only_look = false)
      : context_(context), arena_(context.arena), only_look_(only_look) {}
  std::vector<GradientProblem> problems;

  ExprPtr run(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr))
      return map_block(
          arena_, *block,
          [&](ExprPtr child) {
            // What is bound may be differentiated again.
            return child != block->result && child->kind == ExprKind::Intrinsic ? needed(child) : run(child);
          },
          [this](const Variable* variable, ExprPtr value) {
            if (value->kind == ExprKind::Fn) bound_.emplace(variable, value);
          });
    ExprPtr result = map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    auto* e = as<IntrinsicExpr>(result);
    if (!e || !is_gradient(*e)) return result;
    ExprPtr made = gradient_of(*e);
    return made ? made : result;
  }

 private:
  // The function that an expression is; null where that is not known before it runs.
  const FnExpr* function_of(ExprPtr expr) {
    if (auto* fn = as<FnExpr>(expr)) return fn;
    if (auto* var = as<VarExpr>(expr)) {
      auto known = bound_.find(var->variable);
      if (known != bound_.end()) return as<FnExpr>(known->second);
      return of_definition(context_.functions.bound(var->variable), {});
    }
    auto* global = as<GlobalExpr>(expr);
    if (!global) return nullptr;
    const Definition* definition = context_.functions.function(global->module, global->name);
    if (!definition) return nullptr;
    Substitution at;
    for (size_t i = 0; i < definition->scheme.dim_vars.size() && i < global->dims.size(); ++i)
      at.dims.emplace(definition->scheme.dim_vars[i], global->dims[i]);
    for (size_t i = 0; i < definition->scheme.type_vars.size() && i < global->types.size(); ++i)
      at.types.emplace(definition->scheme.type_vars[i], global->types[i]);
    return of_definition(definition, at);
  }

  const FnExpr* of_definition(const Definition* definition, const Substitution& at) {
    if (!definition || !definition->body) return nullptr;
    arena_.keep(definition->arena);
    ExprSubstitution substitution;
    substitution.types = at;
    ExprPtr body = substitute(arena_, definition->body, substitution);
    // The statement of `let %f = fn …` is a block with the function.
    auto* block = as<BlockExpr>(body);
    if (block && block->bindings.size() == 1) body = block->bindings[0].value;
    return as<FnExpr>(needed(body));
  }

  ExprPtr gradient_of(const IntrinsicExpr& e) {
    const FnExpr* function = function_of(e.args[0]);
    if (!function) {
      problems.push_back(
          {e.origin, {{e.args[0]->origin, "a function that is known only when the program runs"}}});
      return nullptr;
    }
    Parts parts = parts_of(function);
    if (!parts.whole) return nullptr;
    if (!parts.own_gradients.empty()) {
      problems.push_back({e.origin, std::move(parts.own_gradients)});
      return nullptr;
    }
    ExprPtr flat = with_bound(*as<FnExpr>(substitute(arena_, function, {})));
    // A gradient in what it calls is a function to call, too.
    flat = inline_local(context_, needed(inline_calls(context_, flat)));
    flat = instantiate_ops(context_, flat);
    flat = dead_code(context_, simplify_index(context_, to_anf(context_, flat)));
    const FnExpr& plain = *as<FnExpr>(flat);
    if (auto underivable = underivable_parts(plain); !underivable.empty()) {
      problems.push_back({e.origin, std::move(underivable)});
      return nullptr;
    }
    if (only_look_ && depth_ == 0) return nullptr;
    return applied(e, *std::get<VectorJacobian>(vector_jacobian(arena_, plain)).function);
  }

  // With its gradients expanded in any case.
  ExprPtr needed(ExprPtr expr) {
    ++depth_;
    ExprPtr result = run(expr);
    --depth_;
    return result;
  }

  // Functions of the top level that it calls are bound in it.
  ExprPtr with_bound(const FnExpr& function) {
    std::vector<Binding> bindings;
    std::vector<const Variable*> free = free_variables(&function);
    for (const Variable* v : free) {
      if (v->type->kind != TypeKind::Function || bound_.contains(v)) continue;
      if (const FnExpr* known = of_definition(context_.functions.bound(v), {}))
        bindings.push_back({v, known});
    }
    for (const auto& [v, value] : bound_)
      if (std::ranges::count(free, v)) bindings.push_back({v, value});
    if (bindings.empty()) return &function;
    ExprPtr body = arena_.make<BlockExpr>(Expr{ExprKind::Block, function.body->type, function.origin},
                                          arena_.copy(bindings), function.body);
    Expr head = function;
    return arena_.make<FnExpr>(head, function.params, function.dim_vars, body, false, function.attributes);
  }

  struct Parts {
    bool whole = true;  ///< every definition that it reaches has a body: one with errors has none, and is told there
    std::vector<Underivable> own_gradients;  ///< what says its gradient itself
  };

  // Of the function and of what it calls.
  Parts parts_of(ExprPtr function) {
    Parts parts;
    std::unordered_set<const Definition*> seen;
    auto add = [&](Origin origin, std::string_view name) {
      parts.own_gradients.push_back(
          {origin, fmt::format("`{}` has a `gradient` clause, which is not used yet", name)});
    };
    std::function<void(ExprPtr)> walk = [&](ExprPtr at) {
      if (auto* call = as<OpCallExpr>(at)) {
        auto instance = context_.functions.instance(*call->instance);
        if (instance->own_gradient) add(call->origin, instance->name);
        if (!instance->function)
          parts.whole = false;
        else if (instance->function->body->kind != ExprKind::Comprehension)
          walk(instance->function->body);
      }
      if (auto* global = as<GlobalExpr>(at)) {
        const Definition* definition = context_.functions.function(global->module, global->name);
        if (definition && definition->own_gradient) add(global->origin, "@" + definition->name);
        if (!definition || !definition->body)
          parts.whole = false;
        else if (seen.insert(definition).second)
          walk(definition->body);
      }
      for_each_child(at, walk);
    };
    walk(function);
    return parts;
  }

  // `fn (params) { backward(params, 1) }`, without the value where it is not asked for.
  ExprPtr applied(const IntrinsicExpr& e, const FnExpr& backward) {
    std::vector<const Variable*> params(backward.params.begin(), backward.params.end());
    const Variable* cotangent = params.back();
    params.pop_back();
    ScalarBuilder build(arena_, e.origin);
    std::vector<Dim> vars;
    for (size_t k = 0; k < cotangent->type->dims.size(); ++k) vars.push_back(dim_var("i"));
    ExprPtr one = build.constant(1, cotangent->type->dtype);
    if (!vars.empty()) one = build.comprehension(vars, cotangent->type->dims, one);
    std::vector<Binding> bindings{{cotangent, one}};
    auto* block = as<BlockExpr>(backward.body);
    bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
    ExprPtr result = block->result;
    if (e.intrinsic == IntrinsicKind::Gradient) result = as<TupleExpr>(result)->fields[1];
    ExprPtr body =
        arena_.make<BlockExpr>(Expr{ExprKind::Block, result->type, e.origin}, arena_.copy(bindings), result);
    std::vector<Type> types;
    types.reserve(params.size());
    for (const Variable* param : params) types.push_back(param->type);
    return arena_.make<FnExpr>(Expr{ExprKind::Fn, function_type(types, result->type), e.origin},
                               arena_.copy(params), backward.dim_vars, body, false);
  }

  const PassContext& context_;
  Arena& arena_;
  std::unordered_map<const Variable*, ExprPtr> bound_;
  const bool only_look_;
  int depth_ = 0;
};

}  // namespace

ExprPtr expand_gradients(const PassContext& context, ExprPtr expr) {
  return has_gradients(expr) ? inline_local(context, Expander(context).run(expr)) : expr;
}

std::vector<GradientProblem> gradient_problems(FunctionSource& functions, ExprPtr expr) {
  Arena arena;
  PassContext context{arena, functions};
  Expander expander(context, true);
  expander.run(expr);
  return std::move(expander.problems);
}

bool has_gradients(ExprPtr expr) {
  auto* e = as<IntrinsicExpr>(expr);
  bool found = e && is_gradient(*e);
  for_each_child(expr, [&](ExprPtr child) { found = found || has_gradients(child); });
  return found;
}

}  // namespace quern
