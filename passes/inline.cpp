#include "passes/inline.h"

#include <map>
#include <set>

namespace quern {

namespace {

constexpr size_t kNodeBudget = 50'000;

size_t count_nodes(ExprPtr expr) {
  size_t count = 1;
  for_each_child(expr, [&](ExprPtr child) { count += count_nodes(child); });
  return count;
}

class Inliner {
 public:
  explicit Inliner(const PassContext& context) : context_(context) {}

  ExprPtr run(ExprPtr expr) {
    ExprPtr result = map_children(context_.arena, expr, [&](ExprPtr child) { return run(child); });
    auto* call = as<CallExpr>(result);
    auto* global = call ? as<GlobalExpr>(call->callee) : nullptr;
    const Definition* definition =
        global ? context_.functions.function(global->module, global->name) : nullptr;
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn || is_recursive(definition)) return result;
    size_t size = count_nodes(fn->body);
    if (spent_ + size > kNodeBudget) return result;
    spent_ += size;
    context_.arena.keep(definition->arena);
    return run(body_at(*call, *global, *definition, *fn));
  }

 private:
  // { let p = arg; …; body } with the body's dims and types as this call has them.
  ExprPtr body_at(const CallExpr& call, const GlobalExpr& global, const Definition& definition,
                  const FnExpr& fn) {
    Arena& arena = context_.arena;
    ExprSubstitution substitution;
    substitution.call = &call.origin;
    for (size_t i = 0; i < definition.scheme.dim_vars.size() && i < global.dims.size(); ++i)
      substitution.types.dims.emplace(definition.scheme.dim_vars[i], global.dims[i]);
    for (size_t i = 0; i < definition.scheme.type_vars.size() && i < global.types.size(); ++i)
      substitution.types.types.emplace(definition.scheme.type_vars[i], global.types[i]);
    std::vector<Binding> bindings;
    for (size_t i = 0; i < fn.params.size(); ++i) {
      ExprPtr arg = call.args[i];
      if (!is_atom(arg)) {
        const Variable* variable = make_variable(arena, fn.params[i]->name, arg->type);
        bindings.push_back({variable, arg});
        arg = arena.make<VarExpr>(Expr{ExprKind::Var, arg->type, arg->origin}, variable);
      }
      substitution.variables.emplace(fn.params[i], arg);
    }
    ExprPtr body = substitute(arena, fn.body, substitution);
    if (bindings.empty()) return body;
    return arena.make<BlockExpr>(Expr{ExprKind::Block, body->type, call.origin}, arena.copy(bindings), body);
  }

  bool is_recursive(const Definition* definition) {
    auto known = recursive_.find(definition);
    if (known != recursive_.end()) return known->second;
    std::set<const Definition*> seen;
    bool result = reaches(definition, definition, seen);
    recursive_.emplace(definition, result);
    return result;
  }
  bool reaches(const Definition* from, const Definition* target, std::set<const Definition*>& seen) {
    if (!from) return true;
    bool found = false;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      if (auto* g = as<GlobalExpr>(e)) {
        const Definition* callee = context_.functions.function(g->module, g->name);
        if (callee == target)
          found = true;
        else if (seen.insert(callee).second)
          found = found || reaches(callee, target, seen);
      }
      if (!found) for_each_child(e, walk);
    };
    walk(from->body);
    return found;
  }

  const PassContext& context_;
  std::map<const Definition*, bool> recursive_;
  size_t spent_ = 0;
};

}  // namespace

ExprPtr inline_calls(const PassContext& context, ExprPtr expr) { return Inliner(context).run(expr); }

}  // namespace quern
