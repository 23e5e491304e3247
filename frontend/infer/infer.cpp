// Groups of definitions.

#include "frontend/infer/infer.h"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <unordered_set>

#include "frontend/infer/context/open_types.h"
#include "frontend/infer/inference.h"

namespace quern {

namespace {

SyntaxPtr body_of(SyntaxPtr def) {
  SyntaxPtr bodies = def->child(4);
  return bodies && !bodies->children.empty() ? bodies->children[0]->child(1) : nullptr;
}

// Collects from a definition or its chunks.
template <class T>
std::vector<T> of_declaration(const std::vector<T>& all, const Declaration& def) {
  if (all.empty()) return {};
  std::unordered_set<uint32_t> own{def.id};
  for (const Declaration* chunk : def.chunks) own.insert(chunk->id);
  std::vector<T> mine;
  for (const T& item : all)
    if (own.contains(item.place.origin.declaration)) mine.push_back(item);
  return mine;
}

}  // namespace

bool contains_errors(ExprPtr expr) {
  if (expr->kind == ExprKind::Error || contains_error(expr->type)) return true;
  bool found = false;
  for_each_child(expr, [&](ExprPtr child) { found = found || contains_errors(child); });
  return found;
}

void finish_constraints(Scheme& scheme, Context& context) {
  for (Constraint& c : scheme.constraints) {
    for (Type& t : c.args) t = context.final_type(t);
    c.result = context.final_type(c.result);
  }
}

std::optional<Annotations> annotations_of(const Declaration& def, Scope& scope) {
  if (!fully_annotated(def.syntax) || has_attributes_or_packs(def)) return std::nullopt;
  Context context(scope, def.id);
  Names names(context);
  Head head = Heads(context, names)
                  .of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {}, Binder::General);
  Scheme scheme{head.dim_vars, head.type_vars, nullptr};
  for (const auto& [name, unknown] : head.dtype_vars) {
    scheme.dtype_vars.emplace_back(dtype_var(name), DTypeClass::Any);
    context.unifier.unify(unknown, scheme.dtype_vars.back().first);
    scheme.specialised = true;
  }
  scheme.type = context.final_type(function_type(head.params, head.result));
  Annotations annotations{std::move(scheme), {}, std::move(context.diagnostics)};
  for (const auto& [name, value] : head.env.statics)
    if (value.as_dim()) annotations.dims.emplace_back(name, value.as_dim());
  return annotations;
}

namespace {

// The inference of a group of mutually recursive definitions: polymorphic, or a copy at one member's
// parameter types.
class GroupInference {
 public:
  GroupInference(const std::vector<const Declaration*>& group, Scope& scope, const InstanceRequest* copy)
      : group_(group), copy_(copy), inference_(scope, group[0]->id) {
    inference_.context.warns = !copy;
  }

  std::vector<Inferred> run() {
    const GeneralMark mark = inference_.general.mark();
    inference_.context.unifier.enter_level();
    for (const Declaration* def : group_) head(*def);
    for (size_t i = 0; i < group_.size(); ++i) {
      inference_.context.declaration = group_[i]->id;
      SyntaxPtr def = group_[i]->syntax;
      drafts_.push_back(
          inference_.walk.functions.function(def, params_of(def), heads_[i], body_of(def), group_[i]));
    }
    inference_.files.load_types();
    inference_.context.unifier.leave_level();
    std::vector<Scheme> written;
    for (const Head& head : heads_) written.push_back({head.dim_vars, head.type_vars, nullptr});
    schemes_ = inference_.general.generalise(mark, types_, written, General::Dims::All);
    solve(inference_);
    for (size_t i = 0; i < group_.size(); ++i) {
      inference_.context.declaration = group_[i]->id;
      inference_.heads.check_written_dtypes(group_[i]->syntax, heads_[i]);
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
      heads_.push_back(inference_.heads.of_definition(def, &scheme));
    }
    annotated_.push_back(scheme);
    types_.push_back(function_type(heads_.back().params, heads_.back().result));
    // A copy of an annotated definition calls what its types require, perhaps another copy.
    if (scheme || fully_annotated(def.syntax)) return;
    std::string name = def.name.substr(1);
    inference_.context.group.types.emplace(name, types_.back());
    if (copy_) inference_.context.group.names.emplace(name, specialised_name(name, *copy_));
  }

  Head copied_head(const Declaration& def) {
    inference_.context.declaration = def.id;
    std::vector<Type> given;
    if (is_copied(def)) given = given_params();
    Head head = inference_.heads.of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {},
                                    Binder::Copy, is_copied(def) ? &given : nullptr);
    head.type_vars.insert(head.type_vars.end(), own_types_.begin(), own_types_.end());
    return head;
  }

  // The parameter types of the copy. The caller's type variables become variables here.
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
    for (Type t : *copy_->params)
      given.push_back(with_open_dims(substitute(t, own), inference_.context.unifier));
    return given;
  }

  Inferred settle(size_t i) {
    Scheme scheme = annotated_[i] ? *annotated_[i] : schemes_[i];
    finish_constraints(scheme, inference_.context);
    scheme.type = without_opened(inference_.context.final_type(scheme.type), scheme.dim_vars);
    std::string called = copy_ ? specialised_name(name(i), *copy_) : std::string(name(i));
    inference_.context.group.schemes.emplace(called, scheme);
    if (copy_ && scheme.specialised && !has_errors(inference_.context.diagnostics)) cannot_infer(i);
    Inferred result;
    result.definition = {called, scheme, nullptr, inference_.context.arena};
    return result;
  }

  void finish(size_t i) {
    inference_.context.declaration = group_[i]->id;
    const Scheme& scheme = results_[i].definition.scheme;
    const bool is_reported = has_errors(inference_.context.diagnostics) || inference_.context.uses_broken;
    if (contains_error(scheme.type) && !is_reported) cannot_infer(i);
    // A specialised definition has no nodes itself; its copies do.
    if (!scheme.specialised) {
      auto* fn = as<FnExpr>(inference_.finisher.finish(drafts_[i]));
      // Dims introduced by generalisation are bound on entry like written ones.
      ExprPtr body = inference_.context.arena->make<FnExpr>(
          Expr{ExprKind::Fn, scheme.type, fn->origin}, fn->params,
          inference_.context.arena->copy(scheme.dim_vars), fn->body, false, fn->attributes);
      results_[i].definition.body = contains_errors(body) ? nullptr : body;
    }
    results_[i].diagnostics = of_declaration(inference_.context.diagnostics, *group_[i]);
    results_[i].late_calls = of_declaration(inference_.context.late_calls, *group_[i]);
    results_[i].types = inference_.finisher.types_of(group_[i]->id);
    for (const Declaration* chunk : group_[i]->chunks)
      results_[i].chunk_types.push_back(
          std::make_shared<const std::vector<Type>>(inference_.finisher.types_of(chunk->id)));
    results_[i].needs = inference_.context.needs;
  }

  void cannot_infer(size_t i) {
    inference_.context.report(
        DiagnosticKind::CannotInfer, params_of(group_[i]->syntax),
        fmt::format("the type of `{}` cannot be determined; annotate its parameters", group_[i]->name));
  }

  const std::vector<const Declaration*>& group_;
  const InstanceRequest* copy_;
  Inference inference_;
  std::vector<Head> heads_;
  std::vector<Type> types_;
  std::vector<Type> own_types_;
  std::vector<const Scheme*> annotated_;  ///< null if the type is inferred
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
      result.diagnostics.push_back(missing_signature(def));
    return {result};
  }
  return GroupInference(group, scope, nullptr).run();
}

std::vector<Inferred> infer_copy(const std::vector<const Declaration*>& group, const InstanceRequest& request,
                                 Scope& scope) {
  return GroupInference(group, scope, &request).run();
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
