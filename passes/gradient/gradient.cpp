#include "passes/gradient/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "frontend/infer/infer.h"
#include "ir/expr/effects.h"
#include "passes/batch/batch.h"
#include "passes/dead_code.h"
#include "passes/gradient/checkpoint.h"
#include "passes/gradient/derivable_scans.h"
#include "passes/gradient/derivatives.h"
#include "passes/gradient/lifting/program.h"
#include "passes/gradient/lifting/tape.h"
#include "passes/gradient/local_functions.h"
#include "passes/gradient/reverse.h"
#include "passes/inline.h"
#include "passes/inline_local.h"
#include "passes/instantiate_ops.h"
#include "passes/known_functions.h"
#include "passes/simplify_index.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

bool is_gradient(ExprPtr expr) {
  auto* e = as<IntrinsicExpr>(expr);
  return e && is_derivative(e->intrinsic);
}

constexpr std::string_view kKnownOnlyByARun = "a function that is known only when the program runs";

class Expander {
 public:
  /// With `only_look`, a possible gradient is not expanded unless another one needs it.
  explicit Expander(
      const PassContext& context, bool only_look = false,
      std::function<bool(Origin)> explained = [](Origin) { return false; })
      : context_(context), arena_(context.arena), only_look_(only_look), explained_(std::move(explained)) {}
  std::vector<GradientProblem> problems;
  RowFunctions rows = RowFunctions::Batched;
  /// Parameters of the definition that is looked at: who calls it knows the functions among them (known_functions).
  std::unordered_set<const Variable*> given;

  bool reads_given(ExprPtr expr) const {
    return !given.empty() && std::ranges::any_of(free_variables(expr), [this](const Variable* v) {
      return v->type->kind == TypeKind::Function && given.contains(v);
    });
  }

  ExprPtr run(ExprPtr expr) {
    // Derivatives are of the function itself.
    if (auto* own = as<IntrinsicExpr>(expr); own && own->intrinsic == IntrinsicKind::Specialize)
      return run(own->args[0]);
    if (auto* block = as<BlockExpr>(expr))
      return map_block(
          arena_, *block,
          [&](ExprPtr child) {
            // A bound function may be differentiated again.
            return child != block->result && child->kind == ExprKind::Intrinsic ? needed(child) : run(child);
          },
          [this](const Variable* variable, ExprPtr value) {
            if (value->kind == ExprKind::Fn || names_function(value)) bound_.emplace(variable, value);
          });
    // The derivative of a derivative needs it.
    const bool differentiates = is_gradient(expr) && !is_row_by_row(expr);
    ExprPtr result = map_children(arena_, expr,
                                  [&](ExprPtr child) { return differentiates ? needed(child) : run(child); });
    ExprPtr made = is_gradient(result) ? gradient_of(*as<IntrinsicExpr>(result))
                   : depth_ > 0        ? with_checkpoint(result)
                                       : nullptr;
    return made ? made : result;
  }

 private:
  bool is_row_by_row(ExprPtr expr) const {
    auto* e = as<IntrinsicExpr>(expr);
    return e && e->intrinsic == IntrinsicKind::Vmap && depth_ == 0 && rows == RowFunctions::RowByRow;
  }

  // The function that an expression denotes; null if that is known only at run time.
  const FnExpr* function_of(ExprPtr expr) {
    if (auto* fn = as<FnExpr>(expr)) return fn;
    if (auto* own = as<IntrinsicExpr>(expr); own && own->intrinsic == IntrinsicKind::Specialize)
      return function_of(own->args[0]);
    if (auto* var = as<VarExpr>(expr)) {
      auto known = bound_.find(var->variable);
      if (known != bound_.end()) return function_of(known->second);
      return of_definition(context_.functions.bound(var->variable), {});
    }
    auto* global = as<GlobalExpr>(expr);
    if (!global) return nullptr;
    const Definition* definition = context_.functions.function(global->module, global->name);
    if (!definition) return nullptr;
    return of_definition(definition, at_use(*definition, *global));
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
    if (names_function(body)) return function_of(body);
    return as<FnExpr>(needed(body));
  }

  /// `let %g = @f`, `let %g = %f`: another name of a function.
  static bool names_function(ExprPtr value) {
    return value->type->kind == TypeKind::Function &&
           (value->kind == ExprKind::Global || value->kind == ExprKind::Var);
  }

  ExprPtr named(ExprPtr name) const {
    auto* read = as<VarExpr>(name);
    const auto known = read ? bound_.find(read->variable) : bound_.end();
    return known == bound_.end() ? name : named(known->second);
  }

  ExprPtr gradient_of(const IntrinsicExpr& e) {
    const FnExpr* function = function_of(e.args[0]);
    if (is_row_by_row(&e)) return row_by_row(arena_, e.args[0], e.type);
    if (!function && e.intrinsic == IntrinsicKind::Vmap)
      return is_whole(e.args[0]) ? row_by_row(arena_, e.args[0], e.type) : nullptr;
    if (!function) {
      if (!is_whole(named(e.args[0]))) return nullptr;
      if (!reads_given(e.args[0]))
        problems.push_back({e.origin, {{e.args[0]->origin, std::string(kKnownOnlyByARun)}}});
      return nullptr;
    }
    if (!is_whole(function) || reads_given(function)) return nullptr;
    ExprPtr flat = flattened(*function);
    // One inside of it could not be made, and has its own problem.
    if (has_gradients(flat)) return nullptr;
    flat = inline_local(context_, flat);
    flat = to_anf(context_, derivable_scans(context_, to_anf(context_, flat)));
    flat = dead_code(context_, simplify_index(context_, flat));
    const FnExpr& plain = *as<FnExpr>(flat);
    if (e.intrinsic == IntrinsicKind::Vmap) {
      if (only_look_ && depth_ == 0) return nullptr;
      const FnExpr* rows = batched(context_, plain, e.type);
      return rows ? rows : row_by_row(arena_, function, e.type);
    }
    GradientOutlook outlook = outlook_of(plain, e.intrinsic);
    bool possible = outlook.underivable.empty();
    if (!possible || !outlook.scattered.empty())
      problems.push_back({e.origin, std::move(outlook.underivable), std::move(outlook.scattered)});
    if (!possible) return nullptr;
    if (only_look_ && depth_ == 0) return nullptr;
    auto made = derivative(context_, e.intrinsic, plain);
    if (auto* function_made = std::get_if<const FnExpr*>(&made)) return *function_made;
    problems.push_back({e.origin, std::move(std::get<std::vector<Underivable>>(made))});
    return nullptr;
  }

  // With the functions that it calls inside of it; a gradient among them is also a function to call.
  ExprPtr flattened(const FnExpr& function) {
    ExprPtr flat = with_bound(*as<FnExpr>(substitute(arena_, &function, {})));
    for (ExprPtr before = nullptr; flat != before;) {
      before = flat;
      flat = needed(instantiate_ops(context_, local_functions(context_, inline_calls(context_, flat))));
    }
    return flat;
  }

  GradientOutlook outlook_of(const FnExpr& function, IntrinsicKind kind) const {
    Arena scratch;
    const PassContext context{scratch, context_.functions};
    if (kind == IntrinsicKind::JacobianVector) {
      auto made = derivative(context, kind, function);
      auto* parts = std::get_if<std::vector<Underivable>>(&made);
      return {parts ? std::move(*parts) : std::vector<Underivable>(), {}};
    }
    if (!lifting::is_more_than_tensor_code(function.body)) return gradient_outlook(function, explained_);
    auto made = tape_vector_jacobian(context, function);
    if (auto* parts = std::get_if<std::vector<Underivable>>(&made)) return {std::move(*parts), {}};
    std::vector<ScatterFallback> scattered = std::get<VectorJacobian>(made).fallbacks;
    std::erase_if(scattered, [&](const ScatterFallback& f) { return !explained_(f.origin); });
    return {{}, std::move(scattered)};
  }

  // Expands its gradients unconditionally.
  ExprPtr needed(ExprPtr expr) {
    ++depth_;
    ExprPtr result = run(expr);
    --depth_;
    return result;
  }

  // Binds the functions that it calls, and those that they call, inside it.
  ExprPtr with_bound(const FnExpr& function) {
    std::vector<Binding> bindings;
    std::unordered_set<const Variable*> seen;
    std::function<void(ExprPtr)> bind_called = [&](ExprPtr caller) {
      for (const Variable* v : free_variables(caller)) {
        if (v->type->kind != TypeKind::Function || !seen.insert(v).second) continue;
        const auto local = bound_.find(v);
        ExprPtr known =
            local != bound_.end() ? local->second : of_definition(context_.functions.bound(v), {});
        if (!known) continue;
        bind_called(known);
        bindings.push_back({v, known});
      }
    };
    bind_called(&function);
    if (bindings.empty()) return &function;
    ExprPtr body = block_of(arena_, bindings, function.body, function.origin);
    Expr head = function;
    return arena_.make<FnExpr>(head, function.params, function.dim_vars, body, false, function.attributes);
  }

  // Whether every reachable definition has a body: one with errors has none, and is reported there.
  bool is_whole(ExprPtr function) {
    bool whole = true;
    std::unordered_set<const Definition*> seen;
    std::function<void(ExprPtr)> walk = [&](ExprPtr at) {
      if (auto* call = as<OpCallExpr>(at)) {
        auto instance = context_.functions.instance(*call->instance);
        if (!instance->function)
          whole = false;
        else if (instance->function->body->kind != ExprKind::Comprehension)
          walk(instance->function->body);
      }
      if (auto* global = as<GlobalExpr>(at)) {
        const Definition* definition = context_.functions.function(global->module, global->name);
        if (!definition || !definition->body)
          whole = false;
        else if (seen.insert(definition).second)
          walk(definition->body);
      }
      for_each_child(at, walk);
    };
    walk(function);
    return whole;
  }

  // `checkpoint(f)`, where its gradient is asked for.
  ExprPtr with_checkpoint(ExprPtr expr) {
    auto* e = as<IntrinsicExpr>(expr);
    const FnExpr* known = e && e->intrinsic == IntrinsicKind::Checkpoint ? function_of(e->args[0]) : nullptr;
    if (!known) return nullptr;
    // What it prints, draws and writes must happen once, and references may hold something else later.
    if (!is_whole(known) || !EffectAnalysis(context_.functions).of_call(*known).without(Effect::Fail).none())
      return e->args[0];
    ExprPtr flat = flattened(*known);
    if (has_gradients(flat)) return e->args[0];
    const FnExpr* made = checkpointed(context_, *as<FnExpr>(inline_local(context_, flat)), e->origin);
    return made ? run(made) : e->args[0];
  }

  const PassContext& context_;
  Arena& arena_;
  std::unordered_map<const Variable*, ExprPtr> bound_;
  const bool only_look_;
  const std::function<bool(Origin)> explained_;
  int depth_ = 0;
};

}  // namespace

ExprPtr expand_gradients(const PassContext& context, ExprPtr expr, RowFunctions rows) {
  expr = known_functions(context, expr);
  if (!has_gradients(expr)) return expr;
  Expander expander(context);
  expander.rows = rows;
  return inline_local(context, expander.run(expr));
}

std::vector<GradientProblem> gradient_problems(FunctionSource& functions, ExprPtr expr,
                                               const std::function<bool(Origin)>& explained) {
  Arena arena;
  PassContext context{arena, functions};
  Expander expander(context, true, explained);
  if (auto* definition = as<FnExpr>(expr))
    expander.given.insert(definition->params.begin(), definition->params.end());
  std::vector<UnknownFunction> unknown;
  expander.run(known_functions(context, expr, &unknown));
  for (const auto& [call, argument] : unknown)
    if (!expander.reads_given(argument))
      expander.problems.push_back({call, {{argument->origin, std::string(kKnownOnlyByARun)}}});
  return std::move(expander.problems);
}

bool has_gradients(ExprPtr expr) {
  bool found = is_gradient(expr);
  for_each_child(expr, [&](ExprPtr child) { found = found || has_gradients(child); });
  return found;
}

}  // namespace quern
