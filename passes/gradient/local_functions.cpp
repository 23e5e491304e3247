#include "passes/gradient/local_functions.h"

#include <map>

#include "passes/inline.h"

namespace quern {

namespace {

class Localiser {
 public:
  explicit Localiser(const PassContext& context) : context_(context), arena_(context.arena) {}

  ExprPtr run(ExprPtr expr) {
    auto* fn = as<FnExpr>(expr);
    if (!fn) return expr;
    ExprPtr body = inside(fn->body);
    if (body == fn->body) return expr;
    Expr head = *fn;
    return arena_.make<FnExpr>(head, fn->params, fn->dim_vars, body, fn->primitive, fn->attributes);
  }

 private:
  struct Key {
    const Definition* definition;
    std::vector<Type> types;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // The body with the functions that it names bound before it.
  ExprPtr inside(ExprPtr body) {
    const std::map<Key, const Variable*> outer = known_;
    std::vector<Binding> bindings;
    std::swap(bindings, bindings_);
    ExprPtr renamed = rename(body);
    std::swap(bindings, bindings_);
    known_ = outer;
    return block_of(arena_, bindings, renamed, body->origin);
  }

  ExprPtr rename(ExprPtr expr) {
    if (auto* global = as<GlobalExpr>(expr))
      if (const Variable* local = variable_of(*global))
        return arena_.make<VarExpr>(Expr{ExprKind::Var, global->type, global->origin}, local);
    return map_children(arena_, expr, [this](ExprPtr child) { return rename(child); });
  }

  const Variable* variable_of(const GlobalExpr& global) {
    const Definition* definition = context_.functions.function(global.module, global.name);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    if (!fn) return nullptr;
    const Key key{definition, {global.types.begin(), global.types.end()}};
    if (auto found = known_.find(key); found != known_.end()) return found->second;
    arena_.keep(definition->arena);
    ExprSubstitution at;
    for (size_t i = 0; i < definition->scheme.type_vars.size() && i < global.types.size(); ++i)
      at.types.types.emplace(definition->scheme.type_vars[i], global.types[i]);
    auto* copy = as<FnExpr>(substitute(arena_, fn, at));
    const Variable* variable = make_variable(arena_, arena_.copy(std::string_view(global.name)), copy->type);
    known_.emplace(key, variable);
    ExprPtr body = inside(inline_calls(context_, copy->body));
    Expr head = *copy;
    bindings_.push_back(
        {variable, arena_.make<FnExpr>(head, copy->params, copy->dim_vars, body, false, copy->attributes)});
    return variable;
  }

  const PassContext& context_;
  Arena& arena_;
  std::map<Key, const Variable*> known_;  ///< those in scope
  std::vector<Binding> bindings_;         ///< of the open body
};

}  // namespace

ExprPtr local_functions(const PassContext& context, ExprPtr function) {
  return Localiser(context).run(function);
}

}  // namespace quern
