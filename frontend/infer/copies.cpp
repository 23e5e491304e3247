// General functions: `let %f = fn …`, and what is typed anew for each rank and dtype that it is used at.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "frontend/infer/inference.h"

namespace quern {

bool binds_function(SyntaxPtr s) {
  bool names = s->is(SyntaxKind::GraphLet) || (s->is(SyntaxKind::Let) && s->text != "_");
  return names && literal_of(s)->is(SyntaxKind::Fn);
}
SyntaxPtr literal_of(SyntaxPtr s) { return s->child(s->is(SyntaxKind::GraphLet) ? 0 : 1); }

/// `t` of `let %f: t = fn …`.
static SyntaxPtr annotation_of(SyntaxPtr s) { return s->is(SyntaxKind::Let) ? s->child(0) : nullptr; }

// --- `let %f = fn …`

// A function literal sees its own name, with one type; after its statement the name has the general type.
DraftPtr Inference::let_function(SyntaxPtr s, Type& declared) {
  size_t depth = scope_depth();
  Mark from = mark();
  unifier.enter_level();
  SyntaxPtr written = annotation_of(s), literal = literal_of(s);
  declared = written ? annotation(written) : nullptr;
  Type own = declared ? declared : unifier.fresh_type();
  Variable* self = drafts_.variable(s->text, own, s->is(SyntaxKind::GraphLet));
  bind_local(self->name, self, s);
  Head head = head_of(literal->child(0), literal->child(1), literal->child(2), env, Binder::General);
  DraftPtr fn = function(literal, literal->child(1), head, literal->child(3));
  note_type(literal, fn->type);
  bool fits = declared ? expect(literal, declared, fn->type, fmt::format("`%{}`", s->text),
                                {{place(written), "it is declared here"}})
                       : unifier.unify(own, fn->type);
  run_queue();
  unifier.leave_level();
  leave_to(depth);
  if (!fits || resolve(fn->type)->kind != TypeKind::Function) {
    bind_local(self->name, self, s);
    return fn;
  }
  Scheme scheme = generalise(from, {fn->type}, {Scheme{head.dim_vars, head.type_vars}}, Dims::Shown)[0];
  bind_dims_of(fn, scheme);
  // What its packs stand for is seen at each use.
  scheme.specialised |= head.env.open_packs != env.open_packs;
  self->type = scheme.type;
  check_written_dtypes(literal, head);
  if (scheme.specialised && error_count() == from.errors) {
    Template made{s, declaration_, env, {}};
    std::set<std::string_view> names;
    std::function<void(SyntaxPtr)> collect = [&](SyntaxPtr n) {
      if (!n) return;
      if ((n->is(SyntaxKind::Local) || n->is(SyntaxKind::GraphName)) && names.insert(n->text).second)
        if (const LocalName* known = find_local(n->text))
          made.captured.push_back({known->name, known->variable});
      for (SyntaxPtr c : n->children) collect(c);
    };
    collect(literal);
    templates_.emplace(self, std::move(made));
  }
  if (scheme.is_general() || scheme.specialised) schemes_.emplace(self, std::move(scheme));
  bind_local(self->name, self, s);
  return fn;
}

// The dims that a function is general in are bound from its arguments.
void Inference::bind_dims_of(DraftPtr function, const Scheme& scheme) {
  if (auto* fn = form_of<FnExpr>(function)) fn->dim_vars = drafts_.copy(scheme.dim_vars);
}

// A dtype parameter that the body makes a certain dtype, or another parameter, is none.
void Inference::check_written_dtypes(SyntaxPtr at, const Head& head) {
  for (size_t i = 0; i < head.dtype_vars.size(); ++i) {
    const auto& [name, unknown] = head.dtype_vars[i];
    DType is = resolve(unknown);
    std::string problem;
    if (!is.is_infer() && !is.is_var()) problem = fmt::format("it is {}", to_string(is));
    for (size_t k = 0; k < i && problem.empty(); ++k)
      if (resolve(head.dtype_vars[k].second) == is)
        problem = fmt::format("it is the same as `{}`", head.dtype_vars[k].first);
    if (problem.empty()) continue;
    SyntaxPtr written = at;
    for (SyntaxPtr p : at->child(0)->children)
      if (p->text == name) written = p;
    report(DiagnosticKind::NotGeneral, written,
           fmt::format("`{}` is written as a parameter, but the body is right for one dtype only: {}", name,
                       problem));
  }
}

// `let %f = fn …` on the top level: the statement's value is the function.
DraftPtr Inference::function_statement(SyntaxPtr s, Scheme& scheme) {
  Type declared = nullptr;
  DraftPtr function = let_function(s, declared);
  const Variable* self = locals_.back().variable;
  if (auto general = schemes_.find(self); general != schemes_.end()) scheme = general->second;
  DraftBinding bindings[] = {{self, function}};
  DraftPtr value = drafts_.read(origin(s), self, function->type);
  return drafts_.block(origin(s), bindings, value);
}

DraftPtr Inference::general_local(SyntaxPtr s, const Variable* variable) {
  const Scheme scheme = schemes_.at(variable);
  std::string name = fmt::format("`%{}`", variable->name);
  Use use = at_use(scheme, s, name);
  if (!scheme.specialised) return drafts_.read(origin(s), variable, use.type);
  DraftPtr waiting = drafts_.make<GeneralUseDraft>(origin(s), use.type);
  if (!templates_.contains(variable)) return waiting;
  relate(s, waiting, fmt::format("the arguments of {}", name),
         [=, this] { return attempt_copy(waiting, s, variable, use.number); });
  return waiting;
}

namespace {

// The dtype that is written for a parameter whose rank is open: `Tensor[(..s, n), float32]` where `s` is one
// of the literal's own parameters.
std::optional<DType> dtype_of_open(SyntaxPtr param, SyntaxPtr type_params) {
  SyntaxPtr type = param->child(0);
  if (!type || !type->is(SyntaxKind::TensorType) || !type_params) return std::nullopt;
  auto is_own = [&](SyntaxPtr s) {
    return s && s->is(SyntaxKind::Name) &&
           std::ranges::any_of(type_params->children, [&](SyntaxPtr p) { return p->text == s->text; });
  };
  SyntaxPtr shape = type->child(0);
  bool open = is_own(shape) || std::ranges::any_of(shape->children, [&](SyntaxPtr item) {
                return item->is(SyntaxKind::Spread) && is_own(item->child(0));
              });
  return open ? parse_dtype(type->child(1)->text) : std::nullopt;
}

}  // namespace

bool Inference::has_written_dtypes(const Template& made, Type function, SyntaxPtr at, std::string_view name) {
  if (function->kind != TypeKind::Function) return true;
  SyntaxPtr literal = literal_of(made.let);
  size_t i = 0;
  for (SyntaxPtr param : literal->child(1)->children) {
    if (!param->is(SyntaxKind::TensorParam) || i == function->params().size()) continue;
    Type given = resolve(function->params()[i++]);
    auto dtype = dtype_of_open(param, literal->child(0));
    if (!dtype || given->kind == TypeKind::Infer || given->is_error()) continue;
    if (given->is_tensor() && unifier.unify(*dtype, given->dtype)) continue;
    report(given->is_tensor() ? DiagnosticKind::DTypeMismatch : DiagnosticKind::TypeMismatch, at,
           fmt::format("argument {} of `%{}` has to be a tensor of {}, but this is {}", i, name,
                       to_string(*dtype), unifier.describe(given)),
           {{Place{{made.declaration, param->id}, {}}, fmt::format("`%{}` is declared here", param->text)}});
    return false;
  }
  return true;
}

bool Inference::attempt_copy(DraftPtr waiting, SyntaxPtr s, const Variable* variable, size_t use) {
  if (broken_uses_.contains(use)) return unifier.unify(waiting->type, error_type()), true;
  Template& made = templates_.at(variable);
  if (!has_written_dtypes(made, resolve(waiting->type), s, variable->name))
    return unifier.unify(waiting->type, error_type()), true;
  auto params = settled_params(waiting->type);
  if (!params) return false;
  Template::Copy& copy = copy_at(made, *params, s);
  if (resolve(copy.made)->kind == TypeKind::Infer) return false;
  if (copy.broken) {
    unifier.unify(waiting->type, error_type());
    return true;
  }
  std::string name = fmt::format("`%{}`", variable->name);
  Type type = at_use(copy.scheme, s, name).type;
  expect(s, waiting->type, type, name);
  waiting->replacement = drafts_.read(origin(s), copy.variable, type);
  return true;
}

Inference::Template::Copy& Inference::copy_at(Template& of, const std::vector<Type>& params, SyntaxPtr use) {
  for (Template::Copy& known : of.copies)
    if (known.params == params) return known;
  SyntaxPtr let = of.let, literal = literal_of(let);
  Variable* self = drafts_.variable(let->text, nullptr, let->is(SyntaxKind::GraphLet));
  Template::Copy& copy =
      of.copies.emplace_back(Template::Copy{params, self, nullptr, {}, unifier.fresh_type()});
  size_t reported = diagnostics.size();
  constexpr int kMostNested = 200;
  if (copying_ >= kMostNested) {
    report(DiagnosticKind::EndlessSpecialisation, use,
           fmt::format("`%{}` would need a copy of itself for each of more than {} types", let->text,
                       kMostNested));
    unifier.unify(copy.made, unit_type());
    return copy;
  }
  ++copying_;
  auto outer_locals = std::exchange(locals_, {});
  auto outer_latest = std::exchange(latest_, {});
  auto outer_env = std::exchange(env, of.env);
  uint32_t outer_declaration = std::exchange(declaration_, of.declaration);
  for (const LocalName& name : of.captured) {
    latest_[name.name] = locals_.size();
    locals_.push_back({name.name, name.variable});
  }
  Mark from = mark();
  unifier.enter_level();
  std::vector<Type> given;
  given.reserve(params.size());
  for (Type t : params) given.push_back(with_open_dims(t));
  Head head = head_of(literal->child(0), literal->child(1), literal->child(2), env, Binder::Copy, &given);
  // A type of this level: what the copy is general in does not belong to the function around.
  self->type = function_type(head.params, head.result);
  if (SyntaxPtr written = annotation_of(let)) unifier.unify(self->type, annotation(written));
  bind_local(self->name, self, let);
  copy.function = function(literal, literal->child(1), head, literal->child(3));
  unifier.leave_level();
  copy.scheme = generalise(from, {copy.function->type}, {Scheme{head.dim_vars, {}}}, Dims::Shown)[0];
  bind_dims_of(copy.function, copy.scheme);
  self->type = copy.scheme.type;
  locals_ = std::move(outer_locals);
  latest_ = std::move(outer_latest);
  env = std::move(outer_env);
  declaration_ = outer_declaration;
  --copying_;
  if (copy.scheme.specialised && error_count() == from.errors)
    report(DiagnosticKind::CannotInfer, use, "its type cannot be determined from its arguments; annotate it");
  copy.broken = error_count() > from.errors;
  tell_at_use(reported, use, fmt::format("`%{}`", let->text));
  unifier.unify(copy.made, unit_type());
  return copy;
}

// --- definitions that are typed per rank and dtype

DraftPtr Inference::global_at(SyntaxPtr s, std::string_view name, const Scheme& scheme) {
  std::string shown = fmt::format("`@{}`", name);
  Use use = at_use(scheme, s, shown);
  const Substitution& substitution = use.substitution;
  Type type = use.type;
  type_arguments(s, scheme, substitution);
  std::vector<Dim> dims;
  std::vector<Type> types;
  for (Dim d : scheme.dim_vars) dims.push_back(substitution.dims.at(d));
  for (Type t : scheme.type_vars) types.push_back(substitution.types.at(t));
  if (!scheme.specialised)
    return drafts_.form(origin(s), type,
                        GlobalExpr{.name = name,
                                   .dims = drafts_.copy(dims),
                                   .types = drafts_.copy(types),
                                   .module = scope_.module()});
  bool annotated = scope_.is_annotated(name);
  size_t number = use.number;
  DraftPtr waiting = drafts_.make<GeneralUseDraft>(origin(s), type);
  relate(s, waiting, fmt::format("the arguments of {}", shown),
         [=, this] { return attempt_specialised(waiting, s, name, annotated, dims, number); });
  return waiting;
}

// `@f<int32, n>`: for the parameters in brackets, in their order.
void Inference::type_arguments(SyntaxPtr s, const Scheme& scheme, const Substitution& substitution) {
  if (s->children.empty()) return;
  const Declaration* head = scope_.global(s->text);
  SyntaxPtr written = head ? head->syntax->child(0) : nullptr;
  size_t count = written ? written->children.size() : 0;
  if (count != s->children.size()) {
    std::vector<Note> notes;
    if (head)
      notes.push_back(
          {Place{{head->id, head->syntax->id}, {}}, fmt::format("`@{}` is defined here", s->text)});
    report(DiagnosticKind::WrongTypeArguments, s,
           fmt::format("`@{}` has {} type parameter{} and is given {}", s->text, count, count == 1 ? "" : "s",
                       s->children.size()),
           std::move(notes));
    return;
  }
  auto wrong = [&](SyntaxPtr at, std::string_view name, std::string_view kind) {
    report(DiagnosticKind::WrongTypeArguments, at, fmt::format("`{}` of `@{}` is {}", name, s->text, kind));
  };
  for (size_t i = 0; i < count; ++i) {
    SyntaxPtr argument = s->children[i];
    std::string_view name = written->children[i]->text;
    if (argument->is(SyntaxKind::HoleType)) continue;
    for (Dim d : scheme.dim_vars) {
      if (d->name != name) continue;
      SyntaxPtr dim = argument;
      Syntax as_name{SyntaxKind::Name, argument->id, argument->text, {}};
      if (argument->is(SyntaxKind::NamedType)) dim = &as_name;
      StaticEvaluator statics = evaluator();
      if (!dim->is(SyntaxKind::Name) && !dim->is(SyntaxKind::Int)) {
        wrong(argument, name, "a dim");
      } else if (auto value = statics.dim(dim, env.statics);
                 value && !unifier.unify(substitution.dims.at(d), *value)) {
        wrong(argument, name, "a dim");
      }
    }
    if (argument->is(SyntaxKind::Int)) {
      bool is_dim =
          std::any_of(scheme.dim_vars.begin(), scheme.dim_vars.end(), [&](Dim d) { return d->name == name; });
      if (!is_dim) wrong(argument, name, "a type, not a dim");
      continue;
    }
    for (Type t : scheme.type_vars)
      if (t->name == name) unifier.unify(substitution.types.at(t), annotation(argument));
    for (const auto& [t, _] : scheme.dtype_vars) {
      if (to_string(t) != name) continue;
      Type type = annotation(argument);
      if (!type->is_scalar() || !unifier.unify(substitution.dtypes.at(t), type->dtype))
        wrong(argument, name, "a dtype");
    }
  }
}

namespace {

// Rigid type variables of the caller by their order: another caller's are as good.
class CanonicalVars {
 public:
  Type apply(Type type) {
    if (type->kind == TypeKind::Var) {
      auto [entry, added] = known_.try_emplace(type, nullptr);
      if (added) entry->second = spelled(known_.size() - 1);
      return entry->second;
    }
    if (type->args.empty()) return type;
    std::vector<Type> args;
    for (Type a : type->args) args.push_back(apply(a));
    return with_args(type, args);
  }

 private:
  static Type spelled(size_t i) {
    static std::mutex mutex;
    static auto* const all = new std::vector<Type>;
    std::lock_guard lock(mutex);
    while (all->size() <= i) all->push_back(type_var(fmt::format("A{}", all->size())));
    return (*all)[i];
  }
  std::unordered_map<Type, Type> known_;
};

}  // namespace

bool Inference::attempt_specialised(DraftPtr waiting, SyntaxPtr s, std::string_view name, bool annotated,
                                    const std::vector<Dim>& written, size_t use) {
  if (broken_uses_.contains(use)) return unifier.unify(waiting->type, error_type()), true;
  auto params = settled_params(waiting->type);
  if (!params) return false;
  CanonicalVars canonical;
  for (Type& t : *params) t = canonical.apply(t);
  const Declaration& def = *scope_.global(name);
  uint32_t home = scope_.home(def).module();
  InstanceRequest request = make_request(def, *params);
  std::string key = request.key.substr(1);
  needs.push_back({request, place(s)});
  if (annotated) {
    // Its type is known without its body.
    scope_.specialise(request);
    waiting->replacement = drafts_.form(
        origin(s), waiting->type,
        GlobalExpr{
            .name = drafts_.copy(std::string_view(key)), .dims = drafts_.copy(written), .module = home});
    return true;
  }
  const Inferred* copy = scope_.specialised(request);
  if (!copy || !copy->definition.body) {
    if (copy)
      for (const Diagnostic& d : copy->diagnostics)
        report(d.kind, s, fmt::format("`@{}`: {}", name, d.message),
               {{d.place, fmt::format("in `@{}`, as it is used here", name)}});
    unifier.unify(waiting->type, error_type());
    return true;
  }
  Use here = at_use(copy->definition.scheme, s, fmt::format("`@{}`", name));
  const Substitution& substitution = here.substitution;
  Type type = here.type;
  expect(s, waiting->type, type, fmt::format("`@{}`", name));
  std::vector<Dim> dims;
  std::vector<Type> types;
  for (Dim d : copy->definition.scheme.dim_vars) dims.push_back(substitution.dims.at(d));
  for (Type t : copy->definition.scheme.type_vars) types.push_back(substitution.types.at(t));
  waiting->replacement = drafts_.form(origin(s), type,
                                      GlobalExpr{.name = drafts_.copy(std::string_view(key)),
                                                 .dims = drafts_.copy(dims),
                                                 .types = drafts_.copy(types),
                                                 .module = home});
  return true;
}

}  // namespace quern
