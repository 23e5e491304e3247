#include "frontend/infer/infer.h"

#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "frontend/infer/inference.h"

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
// them. Its dtype parameters are unknowns that the body has to leave unknown.
Head head_from_scheme(Inference& inference, SyntaxPtr def, const Scheme& scheme, const Head& written) {
  Substitution dtypes;
  Head head{{}, nullptr, {}, scheme.dim_vars, scheme.type_vars, {}};
  // Dims that the metadata name.
  for (const auto& [name, value] : written.env.statics)
    for (Dim d : scheme.dim_vars)
      if (value.as_dim() && value.as_dim()->name == d->name) head.env.statics.emplace(name, StaticValue(d));
  for (SyntaxPtr n : def->child(0) ? def->child(0)->children : std::span<const SyntaxPtr>()) {
    std::string name(n->text);
    for (Dim d : scheme.dim_vars)
      if (d->name == name) head.env.statics.insert_or_assign(name, StaticValue(d));
    for (Type t : scheme.type_vars)
      if (t->name == name) head.env.types.insert_or_assign(name, t);
    for (const auto& [t, _] : scheme.dtype_vars) {
      if (to_string(t) != name) continue;
      DType unknown = inference.unifier.fresh_dtype(DTypeClass::Any);
      dtypes.dtypes.emplace(t, unknown);
      head.dtype_vars.emplace_back(n->text, unknown);
      head.env.statics.insert_or_assign(name, StaticValue(unknown));
    }
  }
  Type type = substitute(scheme.type, dtypes);
  head.params.assign(type->params().begin(), type->params().end());
  head.result = type->result();
  return head;
}

SyntaxPtr body_of(SyntaxPtr def) {
  SyntaxPtr bodies = def->child(4);
  return bodies && !bodies->children.empty() ? bodies->children[0]->child(1) : nullptr;
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
  Head head = head_of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {}, Binder::General);
  return scheme && !contains_error(scheme->type) ? head_from_scheme(*this, def.syntax, *scheme, head) : head;
}

std::optional<Scheme> annotated_scheme(const Declaration& def, Scope& scope) {
  if (!fully_annotated(def.syntax) || has_attributes_or_packs(def)) return std::nullopt;
  Inference inference(scope, def.id);
  Head head = inference.head_of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {},
                                Inference::Binder::General);
  Scheme scheme{head.dim_vars, head.type_vars, nullptr};
  for (const auto& [name, unknown] : head.dtype_vars) {
    scheme.dtype_vars.emplace_back(dtype_var(name), DTypeClass::Any);
    inference.unify(unknown, scheme.dtype_vars.back().first);
    scheme.specialised = true;
  }
  scheme.type = inference.finish(function_type(head.params, head.result));
  return scheme;
}

namespace {

// The inference of a group of mutually recursive definitions: general, or a copy of it at the types of one
// member's parameters.
class GroupInference {
 public:
  GroupInference(const std::vector<const Declaration*>& group, Scope& scope, const InstanceRequest* copy)
      : group_(group), copy_(copy), inference_(scope, group[0]->id) {
    inference_.warns = !copy;
  }

  std::vector<Inferred> run() {
    Inference::Mark mark = inference_.mark();
    inference_.unifier.enter_level();
    for (const Declaration* def : group_) head(*def);
    for (size_t i = 0; i < group_.size(); ++i) {
      inference_.enter(group_[i]->id);
      SyntaxPtr def = group_[i]->syntax;
      drafts_.push_back(inference_.function(def, params_of(def), heads_[i], body_of(def), group_[i]));
    }
    inference_.load_types();
    inference_.unifier.leave_level();
    std::vector<Scheme> written;
    for (const Head& head : heads_) written.push_back({head.dim_vars, head.type_vars, nullptr});
    schemes_ = inference_.generalise(mark, types_, written, Inference::Dims::All);
    inference_.solve();
    for (size_t i = 0; i < group_.size(); ++i) {
      inference_.enter(group_[i]->id);
      inference_.check_written_dtypes(group_[i]->syntax, heads_[i]);
      results_.push_back(settle(i));
    }
    for (size_t i = 0; i < group_.size(); ++i) finish(i);
    return std::move(results_);
  }

 private:
  std::string_view name(size_t i) const { return std::string_view(group_[i]->name).substr(1); }
  bool is_copied(const Declaration& def) const { return copy_ && copy_->op == def.name; }

  void head(const Declaration& def) {
    const Scheme* scheme = nullptr;
    if (copy_) {
      heads_.push_back(copied_head(def));
    } else {
      heads_.push_back(inference_.head_of_definition(def, &scheme));
    }
    annotated_.push_back(scheme);
    types_.push_back(function_type(heads_.back().params, heads_.back().result));
    // A copy of an annotated definition calls what its types ask for: another copy, perhaps.
    if (scheme || fully_annotated(def.syntax)) return;
    std::string name = def.name.substr(1);
    inference_.group_types.emplace(name, types_.back());
    if (copy_) inference_.group_names.emplace(name, specialised_name(name, *copy_));
  }

  Head copied_head(const Declaration& def) {
    inference_.enter(def.id);
    std::vector<Type> given;
    if (is_copied(def)) given = given_params();
    Head head = inference_.head_of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {},
                                   Inference::Binder::Copy, is_copied(def) ? &given : nullptr);
    head.type_vars.insert(head.type_vars.end(), own_types_.begin(), own_types_.end());
    return head;
  }

  // The types that the copy is for. What stands for the caller's type variables is a variable here.
  std::vector<Type> given_params() {
    Substitution own;
    std::function<void(Type)> collect = [&](Type t) {
      if (t->kind == TypeKind::Var && !own.types.contains(t)) {
        own_types_.push_back(type_var(t->name));
        own.types.emplace(t, own_types_.back());
      }
      for (Type a : t->args) collect(a);
    };
    for (Type t : *copy_->params) collect(t);
    std::vector<Type> given;
    for (Type t : *copy_->params) given.push_back(inference_.with_open_dims(substitute(t, own)));
    return given;
  }

  Inferred settle(size_t i) {
    Scheme scheme = annotated_[i] ? *annotated_[i] : schemes_[i];
    scheme.type = without_opened(inference_.finish(scheme.type), scheme.dim_vars);
    for (Constraint& c : scheme.constraints) {
      for (Type& t : c.args) t = inference_.finish(t);
      c.result = inference_.finish(c.result);
    }
    std::string called = copy_ ? specialised_name(name(i), *copy_) : std::string(name(i));
    inference_.group_schemes.emplace(called, scheme);
    if (copy_ && scheme.specialised && !has_errors(inference_.diagnostics)) cannot_infer(i);
    Inferred result;
    result.definition = {called, scheme, nullptr, inference_.arena};
    return result;
  }

  void finish(size_t i) {
    inference_.enter(group_[i]->id);
    const Scheme& scheme = results_[i].definition.scheme;
    const bool is_reported = has_errors(inference_.diagnostics) || inference_.uses_broken;
    if (contains_error(scheme.type) && !is_reported) cannot_infer(i);
    // What is typed per rank and dtype has no nodes of its own: its copies have.
    if (!scheme.specialised) {
      auto* fn = as<FnExpr>(inference_.finish(drafts_[i]));
      // The dims that generalisation made are bound on entry like the written ones.
      ExprPtr body = inference_.arena->make<FnExpr>(Expr{ExprKind::Fn, scheme.type, fn->origin}, fn->params,
                                                    inference_.arena->copy(scheme.dim_vars), fn->body, false,
                                                    fn->attributes);
      results_[i].definition.body = contains_errors(body) ? nullptr : body;
    }
    results_[i].diagnostics = of_declaration(inference_.diagnostics, *group_[i]);
    results_[i].late_calls = of_declaration(inference_.late_calls, *group_[i]);
    results_[i].types = finish_types(inference_, group_[i]->id);
    for (const Declaration* chunk : group_[i]->chunks)
      results_[i].chunk_types.push_back(
          std::make_shared<const std::vector<Type>>(finish_types(inference_, chunk->id)));
    results_[i].needs = inference_.needs;
  }

  void cannot_infer(size_t i) {
    inference_.report(
        DiagnosticKind::CannotInfer, params_of(group_[i]->syntax),
        fmt::format("the type of `{}` cannot be determined; annotate its parameters", group_[i]->name));
  }

  const std::vector<const Declaration*>& group_;
  const InstanceRequest* copy_;
  Inference inference_;
  std::vector<Head> heads_;
  std::vector<Type> types_;
  std::vector<Type> own_types_;
  std::vector<const Scheme*> annotated_;  ///< null where the type is inferred
  std::vector<DraftPtr> drafts_;
  std::vector<Scheme> schemes_;
  std::vector<Inferred> results_;
};

}  // namespace

std::string specialised_name(std::string_view member, const InstanceRequest& request) {
  std::string key = request.key.substr(1);
  return request.op.substr(1) == member ? key : fmt::format("{}{{{}}}", member, key);
}

std::vector<Inferred> infer_group(const std::vector<const Declaration*>& group, Scope& scope) {
  if (has_attributes_or_packs(*group[0])) {
    const Declaration& def = *group[0];
    Inferred result;
    if (fully_annotated(def.syntax))
      result.diagnostics = check_operator(def, scope);
    else
      result.diagnostics.push_back(
          {DiagnosticKind::MissingSignature,
           {{def.id, params_of(def.syntax)->id}, {}},
           fmt::format(
               "`{}` has attributes, packs or clauses: write the types of its parameters and of its result",
               def.name),
           {},
           {}});
    return {result};
  }
  return GroupInference(group, scope, nullptr).run();
}

std::vector<Inferred> infer_copy(const std::vector<const Declaration*>& group, const InstanceRequest& request,
                                 Scope& scope) {
  return GroupInference(group, scope, &request).run();
}

namespace {

// What a general function literal of a statement may need where its copies are made.
void keep_literal(const Declaration& statement, Scope& scope, Inferred& result) {
  result.literal = std::make_shared<Declaration>(statement);
  std::set<std::string_view> seen{statement.syntax->text};
  std::function<void(SyntaxPtr)> walk = [&](SyntaxPtr s) {
    if (!s) return;
    if ((s->is(SyntaxKind::Local) || s->is(SyntaxKind::GraphName)) && seen.insert(s->text).second)
      if (auto variable = scope.shared_variable(s->text)) result.captured.push_back(std::move(variable));
    for (SyntaxPtr c : s->children) walk(c);
  };
  walk(literal_of(statement.syntax));
}

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

void report_unknown_type(Inference& inference, SyntaxPtr statement, SyntaxPtr value) {
  SyntaxPtr callee = value->is(SyntaxKind::Call) ? value->child(0) : value;
  std::string message =
      "the type of this value cannot be determined; bind it with an annotation: `let %x: type = …`";
  if (callee != value && callee->is(SyntaxKind::GlobalName))
    message = fmt::format("what `@{}` gives has no type that could be determined: annotate its result",
                          callee->text);
  else if (statement->is(SyntaxKind::Let) && statement->text != "_")
    message = fmt::format("the type of this value cannot be determined; annotate it: `let %{}: type = …`",
                          statement->text);
  inference.report(DiagnosticKind::CannotInfer, value, message);
}

}  // namespace

Inferred infer_statement(const Declaration& statement, Scope& scope) {
  Inference inference(scope, statement.id);
  inference.warns = true;
  SyntaxPtr s = statement.syntax;
  if (s->is(SyntaxKind::FreeVar)) return infer_free_variable(statement, scope, inference);
  bool is_let = s->is(SyntaxKind::Let), is_graph = s->is(SyntaxKind::GraphLet);
  bool is_test = s->is(SyntaxKind::Test);
  SyntaxPtr value = is_let ? s->child(1) : is_graph || is_test ? s->child(0) : s;
  Inferred result;
  Scheme scheme;
  DraftPtr draft = nullptr;
  // A function literal sees its own name: its statement is `{ let %f = fn …; %f }`.
  bool is_function = binds_function(s);
  if (is_function) {
    draft = inference.function_statement(s, scheme);
  }
  Type type = nullptr;
  if (is_let && s->child(0) && !is_function) type = inference.annotation(s->child(0));
  if (is_let) inference.annotations.emplace(value, s->child(0));
  if (!draft) draft = inference.infer(value, type);
  if (!type) {
    type = draft->type;
  } else {
    inference.expect(value, type, draft->type, fmt::format("`%{}`", s->text),
                     {{Place{{statement.id, s->child(0)->id}, {}}, "it is declared here"}},
                     DiagnosticKind::AnnotationMismatch, draft);
  }
  if (is_test) {
    SyntaxPtr last = value->children.empty() ? value : value->children.back();
    inference.expect(last, unit_type(), draft->type, "the body of a test");
  }
  inference.solve();
  bool is_template = scheme.specialised;
  ExprPtr body = is_template ? nullptr : inference.finish_statement(draft);
  Type settled = inference.closed(inference.finish(type), 0);
  // An error type comes from a mistake that is reported where it was made.
  if (inference.resolve(type)->has_infer && !has_errors(inference.diagnostics)) {
    settled = error_type();
    report_unknown_type(inference, s, value);
  }
  scheme.type = settled;
  for (Constraint& c : scheme.constraints) {
    for (Type& t : c.args) t = inference.finish(t);
    c.result = inference.finish(c.result);
  }
  if (is_template && !has_errors(inference.diagnostics)) keep_literal(statement, scope, result);
  result.definition = {std::string(is_let || is_graph ? s->text : ""), scheme, nullptr, inference.arena};
  result.definition.body = !body || contains_errors(body) ? nullptr : body;
  if ((is_let && s->text != "_") || is_graph) {
    std::vector<Dim> opened;
    Type open = inference.open_any(settled, s->text, &opened);
    result.variable = make_variable(*inference.arena, inference.arena->copy(s->text), open, is_graph);
  }
  result.diagnostics = std::move(inference.diagnostics);
  result.late_calls = std::move(inference.late_calls);
  result.types = finish_types(inference, statement.id);
  result.needs = std::move(inference.needs);
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
