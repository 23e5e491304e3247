#include "passes/localise_loops.h"

#include <algorithm>

#include "passes/inline.h"
#include "passes/loops/tail_loop.h"

namespace quern {

namespace {

/// The nodes of a definition that is put into another, and of all that are.
constexpr size_t kMostNodes = 4'000, kMostInAll = 20'000;

class LoopLocaliser {
 public:
  LoopLocaliser(const PassContext& context, const FnExpr& root) : context_(context), root_(root) {}

  ExprPtr run(ExprPtr expr) {
    ExprPtr inside =
        map_children(context_.arena, expr, [this](ExprPtr child) { return child ? run(child) : child; });
    auto* call = as<CallExpr>(inside);
    auto* global = call ? as<GlobalExpr>(call->callee) : nullptr;
    const Definition* definition =
        global ? context_.functions.function(global->module, global->name) : nullptr;
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn || fn->origin == root_.origin || !is_loop(*fn, *definition)) return inside;
    const size_t size = count_nodes(fn->body);
    if (size > kMostNodes || spent_ + size > kMostInAll) return inside;
    spent_ += size;
    return localised(*call, *global, *definition);
  }

 private:
  bool is_same(ExprPtr callee, const Definition& definition) const {
    auto* global = as<GlobalExpr>(callee);
    return global && context_.functions.function(global->module, global->name) == &definition;
  }

  /// Whether it calls itself, always last, and derives nothing: the gradient of a large function is not made twice.
  bool is_loop(const FnExpr& fn, const Definition& definition) const {
    std::vector<const CallExpr*> calls;
    tail_calls(
        fn.body, [&](ExprPtr callee) { return is_same(callee, definition); }, calls);
    size_t uses = 0;
    bool derives = false;
    std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
      if (!expr) return;
      uses += is_same(expr, definition);
      auto* intrinsic = as<IntrinsicExpr>(expr);
      derives |= intrinsic && is_derivative(intrinsic->intrinsic);
      for_each_child(expr, walk);
    };
    walk(fn.body);
    // A call inside may be at other dims, which its arguments alone tell.
    const auto at_own = [&](const CallExpr* call) {
      return std::ranges::equal(call->args, fn.params, {}, &Expr::type, &Variable::type);
    };
    return !calls.empty() && uses == calls.size() && !derives && definition.scheme.type_vars.empty() &&
           std::ranges::all_of(calls, at_own);
  }

  ExprPtr localised(const CallExpr& call, const GlobalExpr& global, const Definition& definition) {
    Arena& arena = context_.arena;
    arena.keep(definition.arena);
    ExprSubstitution at;
    at.types = at_use(definition, global);
    // Its dims are those of the call.
    auto& fn = *as<FnExpr>(definition.body);
    ExprPtr copy = substitute(
        arena, function_literal(arena, {fn.params.begin(), fn.params.end()}, {}, fn.body, fn.origin), at);
    const Variable* name = make_variable(arena, arena.copy(std::string_view(global.name)), copy->type);
    const std::function<ExprPtr(ExprPtr)> renamed = [&](ExprPtr expr) -> ExprPtr {
      if (!expr) return expr;
      if (is_same(expr, definition)) return read_of(arena, name, expr->origin);
      return map_children(arena, expr, renamed);
    };
    copy = run(inline_calls(context_, renamed(copy)));
    ExprPtr enters = arena.make<CallExpr>(Expr{call}, read_of(arena, name, global.origin), call.args);
    return block_of(arena, {{name, copy}}, enters, call.origin);
  }

  const PassContext& context_;
  const FnExpr& root_;
  size_t spent_ = 0;
};

}  // namespace

ExprPtr localise_loops(const PassContext& context, ExprPtr expr) {
  auto* root = as<FnExpr>(expr);
  return root ? LoopLocaliser(context, *root).run(expr) : expr;
}

}  // namespace quern
