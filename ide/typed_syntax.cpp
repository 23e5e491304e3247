#include "ide/typed_syntax.h"

#include "ide/refactoring_text.h"
#include "passes/instantiate_ops.h"

namespace quern::ide {

namespace {

/// Whether every operator that is called has a definition without errors.
bool has_all_operators(FunctionSource& functions, ExprPtr expr) {
  bool has = true;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (auto* call = as<OpCallExpr>(e)) has = has && functions.instance(*call->instance)->function;
    if (has) for_each_child(e, walk);
  };
  walk(expr);
  return has;
}

}  // namespace

DeclarationId whole_of(Session& session, DeclarationId declaration) {
  const DeclarationId whole = session.info(declaration).part_of;
  return whole ? whole : declaration;
}

ExprPtr typed_body(Session& session, DeclarationId whole) {
  const Inferred* inferred = session.inferred(whole);
  if (!inferred || has_errors(session.check_declaration(whole))) return nullptr;
  return inferred->definition.body;
}

IsBinding is_binding_of(DeclarationId declaration, SyntaxPtr let, SyntaxPtr value) {
  return [declaration, name = std::string(let->text), value](const quern::Binding& binding) {
    const Origin from = binding.value->origin;
    return binding.variable && binding.variable->name == name && from.declaration == declaration &&
           is_inside(value, from.node);
  };
}

ExprPtr expr_of(ExprPtr body, DeclarationId declaration, SyntaxPtr node) {
  while (node->is(SyntaxKind::Paren)) node = node->child(0);
  ExprPtr found = nullptr;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (found) return;
    if (e->origin.declaration == declaration && e->origin.node == node->id)
      found = e;
    else
      for_each_child(e, walk);
  };
  walk(body);
  return found;
}

Effects effects_of(Session& session, ExprPtr body, ExprPtr part) {
  FunctionSource& functions = session.functions();
  if (!has_all_operators(functions, part)) return Effects::all();
  Arena arena;
  EffectAnalysis effects(functions);
  effects.learn(body);
  return effects.of(instantiate_ops({arena, functions}, part));
}

}  // namespace quern::ide
