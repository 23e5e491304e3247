#include "ir/expr/effects.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace quern {

std::string to_string(Effects effects) {
  struct Word {
    Effect effect;
    std::string_view text;
  };
  constexpr Word kWords[] = {{Effect::NewReference, "makes references"},
                             {Effect::ReadReference, "reads references"},
                             {Effect::WriteReference, "writes references"},
                             {Effect::Print, "prints"},
                             {Effect::File, "uses files"},
                             {Effect::Clock, "reads the clock"},
                             {Effect::Draw, "draws random numbers"},
                             {Effect::Fail, "may fail"},
                             {Effect::Parameter, "does what its parameters do"}};
  std::string text;
  for (const Word& word : kWords)
    if (effects.has(word.effect)) text += (text.empty() ? "" : ", ") + std::string(word.text);
  return text.empty() ? "none" : text;
}

namespace {

bool may_have_no_value(Dim dim) {
  if (dim->kind == DimKind::Broadcast || dim->kind == DimKind::Any) return true;
  bool divides = dim->kind == DimKind::FloorDiv || dim->kind == DimKind::FloorMod;
  if (divides && as_const(dim->args[1]).value_or(0) == 0) return true;
  return std::ranges::any_of(dim->args, may_have_no_value);
}

bool any_without_value(std::span<const Dim> dims) { return std::ranges::any_of(dims, may_have_no_value); }

bool may_be_empty(std::span<const Dim> extents) {
  return std::ranges::any_of(extents, [](Dim extent) { return as_const(extent).value_or(0) <= 0; });
}

/// Whether the value's shape is compared at run time.
bool is_gradual(Type type) {
  return std::ranges::any_of(type->dims, [](Dim dim) { return dim->has_any; }) ||
         std::ranges::any_of(type->args, is_gradual);
}

// --- rules of the kinds whose effects are `Own` in nodes.def; a missing one does not compile ---

/// For index expressions: extents without a value, indices tested at run time.
template <class Node>
Effects rule(const Node& e) {
  static_assert(
      requires { e.extents; } || requires { e.checked; }, "this kind needs a rule of its own");
  bool fails = false;
  if constexpr (requires { e.extents; }) fails = any_without_value(e.extents);
  if constexpr (requires { e.checked; }) {
    bool tested = std::ranges::any_of(e.checked, [](bool c) { return c; });
    if constexpr (requires { e.otherwise; }) tested = tested && !e.otherwise;
    fails = fails || tested;
  }
  return fails ? Effect::Fail : Effects();
}
Effects rule(const ReduceExpr& e) {
  bool position = e.reduce == ReduceKind::ArgMax || e.reduce == ReduceKind::ArgMin;
  bool fails = any_without_value(e.extents) || (position && may_be_empty(e.extents));
  return fails ? Effect::Fail : Effects();
}
Effects rule(const MatchExpr& e) { return e.partial ? Effect::Fail : Effects(); }
Effects rule(const IntrinsicExpr& e) {
  if (e.intrinsic == IntrinsicKind::Print || e.intrinsic == IntrinsicKind::Progress) return Effect::Print;
  if (e.intrinsic == IntrinsicKind::NextKey) return Effect::Draw;
  if (e.intrinsic == IntrinsicKind::Assert) return Effect::Fail;
  if (e.intrinsic == IntrinsicKind::Clock) return Effect::Clock;
  // Its calls have effects.
  if (e.intrinsic == IntrinsicKind::ScanOver || e.intrinsic == IntrinsicKind::ToDevice) return {};
  if (e.intrinsic >= IntrinsicKind::Gradient) return {};
  Effects effects = Effect::File;
  return effects |= Effect::Fail;
}
Effects rule(const DimValueExpr& e) { return may_have_no_value(e.dim) ? Effect::Fail : Effects(); }
Effects rule(const ViewExpr& e) {
  std::span<const Dim> from = e.tensor->type->dims, to = e.type->dims;
  bool open = any_without_value(from) || any_without_value(to);
  return open || dim_product(from) != dim_product(to) ? Effect::Fail : Effects();
}
Effects rule(const BlockExpr& e) {
  for (const Binding& binding : e.bindings)
    if (binding.variable && binding.variable->type != binding.value->type) return Effect::Fail;
  return {};
}

/// Placeholder for effects: the kind has a rule.
struct OwnRule {};

template <class Node, class... Row>
Effects effects_of_row(const Node& node, Row... row) {
  Effects effects;
  if constexpr ((std::is_same_v<Row, OwnRule> || ...))
    effects = rule(node);
  else
    ((effects |= row), ...);
  return effects;
}

}  // namespace

Effects own_effects(ExprPtr expr) {
  using enum Effect;
  constexpr OwnRule Own;  // NOLINT: a word of nodes.def
  switch (expr->kind) {
#define QUERN_ROW(...) __VA_OPT__(, ) __VA_ARGS__
#define QUERN_NODE(kind, level, operands, effects, ...) \
  case ExprKind::kind:                                  \
    return effects_of_row(*static_cast<const kind##Expr*>(expr) QUERN_ROW effects);
#include "ir/expr/nodes.def"
#undef QUERN_NODE
#undef QUERN_ROW
  }
  std::abort();
}

void EffectAnalysis::learn(ExprPtr root) {
  std::vector<ExprPtr> rest{root};
  while (!rest.empty()) {
    ExprPtr expr = rest.back();
    rest.pop_back();
    if (auto* block = as<BlockExpr>(expr))
      for (const Binding& binding : block->bindings)
        if (binding.variable) bound_[binding.variable] = binding.value;
    if (auto* fn = as<FnExpr>(expr))
      for (const Variable* param : fn->params) bound_[param] = nullptr;
    for_each_child(expr, [&](ExprPtr child) { rest.push_back(child); });
  }
}

Effects EffectAnalysis::of(ExprPtr expr) {
  Summary summary;
  scan(expr, summary);
  solve(summary.edges);
  return with_edges(summary);
}

Effects EffectAnalysis::of_call(const FnExpr& fn) {
  Summary summary{{}, {{&fn, false}}};
  solve(summary.edges);
  return with_edges(summary);
}

/// Collects the effects of an expression's parts, in any order. A function literal has no effect until it is
/// called.
void EffectAnalysis::scan(ExprPtr root, Summary& summary) {
  std::vector<ExprPtr> rest{root};
  while (!rest.empty()) {
    ExprPtr expr = rest.back();
    rest.pop_back();
    if (expr->kind == ExprKind::Fn) continue;
    summary.effects |= own_effects(expr);
    if (auto* call = as<CallExpr>(expr)) scan_call(*call, summary);
    if (auto* own = as<IntrinsicExpr>(expr); own && own->intrinsic == IntrinsicKind::ScanOver)
      summary.edges.push_back({as<FnExpr>(own->args[0]), true});
    if (auto* call = as<OpCallExpr>(expr)) {
      if (call->instance->function)
        summary.edges.push_back({call->instance->function, true});
      else
        summary.effects |= Effect::Fail;
    }
    for_each_child(expr, [&](ExprPtr child) { rest.push_back(child); });
  }
}

void EffectAnalysis::scan_call(const CallExpr& call, Summary& summary) {
  auto add = [&](ExprPtr function, bool called) {
    Target found = target(function);
    switch (found.known) {
      case Known::Function: summary.edges.push_back({found.function, called}); break;
      case Known::Parameter: summary.effects |= Effect::Parameter; break;
      case Known::Anything: summary.effects |= Effects::all(); break;
    }
  };
  add(call.callee, true);
  for (ExprPtr arg : call.args) {
    if (arg->type->kind == TypeKind::Function) add(arg, false);
    // Its shape is compared with the parameter's type.
    if (is_gradual(arg->type)) summary.effects |= Effect::Fail;
  }
}

EffectAnalysis::Target EffectAnalysis::target(ExprPtr function) {
  if (auto* fn = as<FnExpr>(function)) return {Known::Function, fn};
  if (auto* global = as<GlobalExpr>(function)) {
    const Definition* definition = functions_.function(global->module, global->name);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn) return {Known::Anything};
    arenas_.push_back(definition->arena);
    return {Known::Function, fn};
  }
  auto* var = as<VarExpr>(function);
  auto found = var ? bound_.find(var->variable) : bound_.end();
  if (found == bound_.end()) return {Known::Anything};
  if (!found->second) return {Known::Parameter};
  bool named = found->second->kind == ExprKind::Fn || found->second->kind == ExprKind::Global;
  return named ? target(found->second) : Target{Known::Anything};
}

/// Visits the reachable functions, callees first. A recursive function may not terminate; the others in its
/// cycle inherit that.
void EffectAnalysis::solve(const std::vector<Edge>& edges) {
  struct Visit {
    const FnExpr* fn;
    size_t next = 0;
  };
  std::vector<Visit> path;
  std::vector<const FnExpr*> order;
  auto enter = [&](const FnExpr* fn) {
    auto [entry, added] = summaries_.try_emplace(fn);
    if (!added) {
      bool around = std::ranges::any_of(path, [&](const Visit& v) { return v.fn == fn; });
      if (entry->second.open && around) entry->second.effects |= Effect::Fail;
      return;
    }
    learn(fn);
    Summary summary;
    scan(fn->body, summary);
    summaries_[fn] = std::move(summary);
    path.push_back({fn});
  };
  for (const Edge& edge : edges) {
    enter(edge.to);
    while (!path.empty()) {
      Visit& last = path.back();
      const std::vector<Edge>& callees = summaries_.at(last.fn).edges;
      if (last.next < callees.size()) {
        enter(callees[last.next++].to);
      } else {
        order.push_back(last.fn);
        path.pop_back();
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const FnExpr* fn : order) {
      Summary& summary = summaries_.at(fn);
      Effects known = std::exchange(summary.effects, with_edges(summary));
      changed = changed || known != summary.effects;
    }
  }
  for (const FnExpr* fn : order) summaries_.at(fn).open = false;
}

Effects EffectAnalysis::with_edges(const Summary& summary) const {
  Effects effects = summary.effects;
  for (const Edge& edge : summary.edges) {
    Effects theirs = summaries_.at(edge.to).effects;
    effects |= edge.called ? theirs.without(Effect::Parameter) : theirs;
  }
  return effects;
}

}  // namespace quern
