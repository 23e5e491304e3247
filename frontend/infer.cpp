#include "frontend/infer.h"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "frontend/inference.h"

namespace quern {

namespace {

bool has_hole(SyntaxPtr s) {
  if (!s) return false;
  if (s->is(SyntaxKind::HoleType)) return true;
  for (SyntaxPtr c : s->children)
    if (has_hole(c)) return true;
  return false;
}

bool fully_annotated(SyntaxPtr def) {
  if (!def->child(2) || has_hole(def->child(2))) return false;
  for (SyntaxPtr p : params_of(def)->children)
    if (!is_function_attribute(p) && (!p->child(0) || has_hole(p->child(0)))) return false;
  return true;
}

// The head of a definition whose scheme is known already: the same dims, so that its body is checked against
// them.
Head head_from_scheme(SyntaxPtr def, const Scheme& scheme) {
  Head head{{}, scheme.type->result(), {}, scheme.dim_vars, scheme.type_vars};
  head.params.assign(scheme.type->params().begin(), scheme.type->params().end());
  if (SyntaxPtr names = def->child(0))
    for (SyntaxPtr n : names->children) {
      for (Dim d : scheme.dim_vars)
        if (d->name == n->text) head.env.statics.insert_or_assign(std::string(n->text), StaticValue(d));
      for (Type t : scheme.type_vars)
        if (t->name == n->text) head.env.types.insert_or_assign(std::string(n->text), t);
    }
  return head;
}

SyntaxPtr body_of(SyntaxPtr def) {
  SyntaxPtr bodies = def->child(4);
  return bodies && !bodies->children.empty() ? bodies->children[0]->child(1) : nullptr;
}

// What is still unknown in the type of an inferred definition is general: rigid variables take its place.
Scheme generalise(Inference& inference, Type type, Scheme scheme) {
  std::set<Dim> dims;
  std::function<void(Dim)> find_dims = [&](Dim d) {
    if (d->kind == DimKind::Infer) dims.insert(d);
    for (Dim a : d->args) find_dims(a);
  };
  std::vector<Type> types;
  std::function<void(Type)> find = [&](Type t) {
    if (t->kind == TypeKind::Infer) types.push_back(t);
    for (Dim d : t->dims) find_dims(d);
    for (Type a : t->args) find(a);
  };
  find(inference.resolve(type));
  for (Dim d : dims) {
    scheme.dim_vars.push_back(dim_var(fmt::format("d{}", scheme.dim_vars.size())));
    inference.unify(d, scheme.dim_vars.back());
  }
  for (Type t : types) {
    if (inference.resolve(t)->kind != TypeKind::Infer) continue;
    scheme.type_vars.push_back(type_var(fmt::format("t{}", scheme.type_vars.size())));
    inference.unify(t, scheme.type_vars.back());
  }
  scheme.type = inference.finish(type);
  return scheme;
}

// What stands in a definition or in a chunk of it.
template <class T>
std::vector<T> of_declaration(const std::vector<T>& all, const Declaration& def) {
  std::unordered_set<uint32_t> own{def.id};
  for (const Declaration* chunk : def.chunks) own.insert(chunk->id);
  std::vector<T> mine;
  for (const T& item : all)
    if (own.contains(item.place.origin.declaration)) mine.push_back(item);
  return mine;
}

}  // namespace

std::vector<Type> finish_types(Inference& inference, uint32_t declaration) {
  std::vector<Type> types = inference.node_types[declaration];
  for (Type& t : types)
    if (t) t = inference.finish(t);
  return types;
}

bool is_broken(ExprPtr expr) {
  if (expr->kind == ExprKind::Error || contains_error(expr->type)) return true;
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || is_broken(child); });
  return found;
}

bool contains_errors(ExprPtr expr) {
  if (expr->kind == ExprKind::Error || contains_error(expr->type)) return true;
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || contains_errors(child); });
  return found;
}

Head Inference::head_of_definition(const Declaration& def, const Scheme** annotated) {
  enter(def.id);
  const Scheme* scheme =
      fully_annotated(def.syntax) ? scope_.scheme(std::string_view(def.name).substr(1)) : nullptr;
  if (annotated) *annotated = scheme;
  // The annotations are resolved here too, for their diagnostics.
  Head head = head_of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {});
  return scheme && !contains_error(scheme->type) ? head_from_scheme(def.syntax, *scheme) : head;
}

std::optional<Scheme> annotated_scheme(const Declaration& def, Scope& scope) {
  if (!fully_annotated(def.syntax)) return std::nullopt;
  Inference inference(scope, def.id);
  Head head = inference.head_of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {});
  return Scheme{head.dim_vars, head.type_vars, inference.finish(function_type(head.params, head.result))};
}

std::vector<Inferred> infer_group(const std::vector<const Declaration*>& group, Scope& scope) {
  Inference inference(scope, group[0]->id);
  std::vector<Head> heads;
  std::vector<Type> types;
  std::vector<const Scheme*> annotated;
  for (const Declaration* def : group) {
    const Scheme* scheme = nullptr;
    heads.push_back(inference.head_of_definition(*def, &scheme));
    annotated.push_back(scheme);
    types.push_back(function_type(heads.back().params, heads.back().result));
    if (!scheme) inference.group_types.emplace(def->name.substr(1), types.back());
  }
  std::vector<ExprPtr> drafts;
  for (size_t i = 0; i < group.size(); ++i) {
    inference.enter(group[i]->id);
    SyntaxPtr def = group[i]->syntax;
    for (SyntaxPtr clause : def->child(3)->children)
      inference.report(DiagnosticKind::NotYetSupported, clause, "clauses of a `def @…` cannot be typed yet");
    drafts.push_back(inference.function(def, params_of(def), heads[i], body_of(def), group[i]));
  }
  inference.solve();
  std::vector<Inferred> results(group.size());
  for (size_t i = 0; i < group.size(); ++i) {
    Scheme scheme{heads[i].dim_vars, heads[i].type_vars, nullptr};
    scheme = annotated[i] ? *annotated[i] : generalise(inference, types[i], scheme);
    results[i].definition = {group[i]->name.substr(1), scheme, nullptr, inference.arena};
    inference.group_schemes.emplace(group[i]->name.substr(1), scheme);
  }
  for (size_t i = 0; i < group.size(); ++i) {
    inference.enter(group[i]->id);
    auto* fn = as<FnExpr>(inference.finish(drafts[i]));
    const Scheme& scheme = results[i].definition.scheme;
    if (inference.resolve(types[i])->has_infer && !has_errors(inference.diagnostics))
      inference.report(
          DiagnosticKind::CannotInfer, params_of(group[i]->syntax),
          fmt::format("the type of `{}` cannot be determined; annotate its parameters", group[i]->name));
    // The dims that generalisation made are bound on entry like the written ones.
    ExprPtr body = inference.arena->make<FnExpr>(Expr{ExprKind::Fn, scheme.type, fn->origin}, fn->params,
                                                 inference.arena->copy(scheme.dim_vars), fn->body, false,
                                                 fn->attributes);
    results[i].definition.body = is_broken(body) ? nullptr : body;
  }
  for (size_t i = 0; i < group.size(); ++i) {
    results[i].diagnostics = of_declaration(inference.diagnostics, *group[i]);
    results[i].late_calls = of_declaration(inference.late_calls, *group[i]);
    results[i].types = finish_types(inference, group[i]->id);
    for (const Declaration* chunk : group[i]->chunks)
      results[i].chunk_types.push_back(
          std::make_shared<const std::vector<Type>>(finish_types(inference, chunk->id)));
  }
  return results;
}

namespace {

// `free_var %x: type;` of Relay's expression files: a variable that an input gives its value.
Inferred infer_free_variable(const Declaration& statement, Scope& scope, Inference& inference) {
  SyntaxPtr s = statement.syntax;
  Inferred result;
  Type type = error_type();
  if (s->child(0) && !has_hole(s->child(0))) {
    StaticEvaluator evaluator(scope, statement.id, inference.diagnostics);
    type = resolve_type(s->child(0), inference.env, evaluator, scope, inference.diagnostics, statement.id);
  } else {
    inference.report(DiagnosticKind::CannotInfer, s,
                     fmt::format("the type of an input has to be written: `free_var %{}: type;`", s->text));
  }
  result.definition = {std::string(s->text), Scheme{{}, {}, type}, nullptr, inference.arena};
  result.variable =
      make_variable(*inference.arena, inference.arena->copy(s->text), inference.open_any(type, s->text));
  result.diagnostics = std::move(inference.diagnostics);
  result.types.assign(s->id + 1, nullptr);
  result.types[s->id] = type;
  return result;
}

}  // namespace

Inferred infer_statement(const Declaration& statement, Scope& scope) {
  Inference inference(scope, statement.id);
  SyntaxPtr s = statement.syntax;
  if (s->is(SyntaxKind::FreeVar)) return infer_free_variable(statement, scope, inference);
  bool is_let = s->is(SyntaxKind::Let), is_graph = s->is(SyntaxKind::GraphLet);
  bool is_test = s->is(SyntaxKind::Test);
  SyntaxPtr value = is_let ? s->child(1) : is_graph || is_test ? s->child(0) : s;
  // A function literal sees its own name: its statement is `{ let %f = fn …; %f }`.
  bool is_function = is_let && value->is(SyntaxKind::Fn);
  Syntax name{SyntaxKind::Local, s->id, s->text, {}};
  SyntaxPtr steps[] = {s, &name};
  Syntax block{SyntaxKind::Block, s->id, {}, steps};
  ExprPtr draft = inference.infer(is_function ? &block : value);
  Type type = draft->type;
  if (is_let && s->child(0) && !is_function) {
    StaticEvaluator evaluator(scope, statement.id, inference.diagnostics);
    type = resolve_type(s->child(0), inference.env, evaluator, scope, inference.diagnostics, statement.id);
    inference.expect(value, type, draft->type, fmt::format("`%{}`", s->text),
                     {{Place{{statement.id, s->child(0)->id}, {}}, "it is declared here"}},
                     DiagnosticKind::AnnotationMismatch);
  }
  if (is_test) {
    SyntaxPtr last = value->children.empty() ? value : value->children.back();
    inference.expect(last, unit_type(), draft->type, "the body of a test");
  }
  inference.solve();
  Inferred result;
  ExprPtr body = inference.finish(draft);
  Type settled = inference.finish(type);
  // An error type comes from a mistake that is reported where it was made.
  if (inference.resolve(type)->has_infer && !has_errors(inference.diagnostics))
    inference.report(
        DiagnosticKind::CannotInfer, value,
        is_let && s->text != "_"
            ? fmt::format("the type of this value cannot be determined; annotate it: `let %{}: type = …`",
                          s->text)
            : "the type of this value cannot be determined; bind it with an annotation: `let %x: type = …`");
  result.definition = {std::string(is_let || is_graph ? s->text : ""), Scheme{{}, {}, settled}, nullptr,
                       inference.arena};
  result.definition.body = is_broken(body) ? nullptr : body;
  if ((is_let && s->text != "_") || is_graph) {
    std::vector<Dim> opened;
    Type open = inference.open_any(settled, s->text, &opened);
    result.variable = make_variable(*inference.arena, inference.arena->copy(s->text), open, is_graph);
  }
  result.diagnostics = std::move(inference.diagnostics);
  result.late_calls = std::move(inference.late_calls);
  result.types = finish_types(inference, statement.id);
  if (is_let || is_graph) {
    if (result.types.size() <= s->id) result.types.resize(s->id + 1, nullptr);
    result.types[s->id] = settled;
  }
  return result;
}

std::vector<std::string> referenced_globals(SyntaxPtr syntax) {
  std::set<std::string> names;
  std::function<void(SyntaxPtr)> walk = [&](SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::GlobalName)) names.insert(std::string(s->text));
    for (SyntaxPtr c : s->children) walk(c);
  };
  walk(syntax);
  return {names.begin(), names.end()};
}

}  // namespace quern
