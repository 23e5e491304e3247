// General types: what a function literal or a group of definitions leaves unknown becomes variables of its
// scheme, and the relations among these its constraints (constrained Hindley-Milner: Odersky, Sulzmann, Wehr
// 1999; Roesch 3.3). What is general beyond dims and types is typed anew at each rank and dtype of its uses.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "frontend/inference.h"

namespace quern {

size_t Inference::error_count() const {
  return static_cast<size_t>(std::count_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
    return severity_of(d.kind) == Severity::Error;
  }));
}

// --- making a scheme
// -----------------------------------------------------------------------------------------------------

// The waiting relations made since `mark` that have to do with general unknowns; what they lead to is
// general, too.
std::vector<size_t> Inference::general_relations(const Mark& mark, std::set<Unknown>& general) {
  std::unordered_map<Unknown, std::vector<size_t>, UnknownHash> waiting;
  for (size_t i = mark.relations; i < relations_.size(); ++i)
    if (!relations_[i].done)
      for (Unknown u : relations_[i].waits_for) waiting[u].push_back(i);
  std::vector<size_t> found;
  std::set<size_t> seen;
  std::vector<Unknown> todo(general.begin(), general.end());
  auto add = [&](Unknown u) {
    if (unifier.is_inner(u) && general.insert(u).second) todo.push_back(u);
  };
  while (!todo.empty()) {
    Unknown next = todo.back();
    todo.pop_back();
    for (size_t i : waiting[next]) {
      if (!seen.insert(i).second) continue;
      found.push_back(i);
      for (Unknown u : relations_[i].waits_for) add(u);
      for (Unknown u : unifier.unknowns(relations_[i].draft->type)) add(u);
      if (auto call = op_calls_.find(relations_[i].draft); call != op_calls_.end())
        for (Type t : call->second.call.tensors)
          for (Unknown u : unifier.unknowns(t)) add(u);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Constraint> Inference::constraint_of(ExprPtr draft) {
  auto call = op_calls_.find(draft);
  if (call == op_calls_.end() || call->second.op->name.starts_with("@")) return std::nullopt;
  const OpCallDraft& d = call->second;
  Origin origin = d.needed_by.empty() ? draft->origin : d.stated;
  bool infix = d.call.syntax->is(SyntaxKind::Binary) || d.call.syntax->is(SyntaxKind::Unary);
  std::string symbol(infix ? d.call.syntax->text : "");
  return Constraint{d.op->name, d.call.tensors, d.call.attributes, draft->type, origin, symbol};
}

namespace {

// Whether an argument of the function shows a dim: its own extent, or one in a tuple's field.
bool shows(Type argument, Dim dim) {
  if (std::find(argument->dims.begin(), argument->dims.end(), dim) != argument->dims.end()) return true;
  return argument->kind == TypeKind::Tuple &&
         std::any_of(argument->args.begin(), argument->args.end(), [&](Type t) { return shows(t, dim); });
}

// Names for variables that nobody wrote.
class FreshNames {
 public:
  explicit FreshNames(const std::vector<Scheme>& schemes) {
    for (const Scheme& s : schemes) {
      for (Dim d : s.dim_vars) taken_.insert(to_string(d));
      for (Type t : s.type_vars) taken_.insert(to_string(t));
      for (const auto& [t, _] : s.dtype_vars) taken_.insert(to_string(t));
    }
  }
  std::string dim() { return next('d', dims_); }
  std::string dtype() { return next('t', dtypes_); }
  std::string type() {
    std::string name;
    do name = types_ < 26 ? std::string(1, static_cast<char>('A' + types_)) : fmt::format("A{}", types_ - 25);
    while (++types_, !taken_.insert(name).second);
    return name;
  }

 private:
  std::string next(char letter, int& count) {
    std::string name;
    do name = fmt::format("{}{}", letter, count++);
    while (!taken_.insert(name).second);
    return name;
  }
  std::set<std::string> taken_;
  int dims_ = 0, types_ = 0, dtypes_ = 0;
};

}  // namespace

std::vector<Scheme> Inference::generalise(const Mark& from, const std::vector<Type>& types,
                                          std::vector<Scheme> schemes, Dims dims) {
  // What relations from inside make belongs inside.
  auto run_inside = [this] {
    unifier.enter_level();
    run_queue();
    unifier.leave_level();
    return true;
  };
  run_inside();
  std::set<Unknown> general;
  std::vector<size_t> relations;
  do {
    for (Type type : types) {
      Type settled = resolve(type);
      if (settled->kind != TypeKind::Function) continue;
      for (Type param : settled->params())
        for (Unknown u : unifier.unknowns(param))
          if (unifier.is_inner(u)) general.insert(u);
    }
    relations = general_relations(from, general);
    // Literals that no parameter has to do with take their defaults, and what waits for them goes on.
  } while (unifier.apply_inner_defaults(from.dtypes, general) && run_inside());
  // What depends on unknowns from outside alone is decided there.
  for (size_t i = from.relations; i < relations_.size(); ++i)
    if (!relations_[i].done && !std::ranges::binary_search(relations, i))
      for (Unknown u : unifier.unknowns(relations_[i].draft->type))
        if (!general.contains(u)) unifier.settle_outside(u);
  for (Type type : types)
    for (Unknown u : unifier.unknowns(type))
      if (unifier.is_inner(u)) general.insert(u);
  relations = general_relations(from, general);
  // Calls that were matched while dims were open hold at each use for the dims there.
  std::vector<Constraint> constraints;
  for (size_t i : relations)
    if (auto c = constraint_of(relations_[i].draft)) constraints.push_back(std::move(*c));
  std::vector<ExprPtr> still_open;
  for (size_t i = from.matches; i < open_matches_.size(); ++i) {
    auto c = constraint_of(open_matches_[i]);
    bool inner = false, outer = false;
    for (Type t : c ? c->args : std::vector<Type>())
      for (Unknown u : unifier.unknowns(t)) {
        bool of_this = general.contains(u) || (u.kind == Unknown::Kind::Dim && unifier.is_inner(u));
        (of_this ? inner : outer) = true;
      }
    if (outer) still_open.push_back(open_matches_[i]);
    if (!inner) continue;
    for (Type t : c->args)
      for (Unknown u : unifier.unknowns(t))
        if (unifier.is_inner(u)) general.insert(u);
    constraints.push_back(std::move(*c));
    op_calls_.at(open_matches_[i]).assumed = true;
  }
  open_matches_.resize(from.matches);
  open_matches_.insert(open_matches_.end(), still_open.begin(), still_open.end());

  for (size_t i : relations) relations_[i].done = true;
  FreshNames names(schemes);
  Scheme common;
  common.specialised = !relations.empty();
  auto quantify = [&](Type in) {
    for (Unknown u : unifier.unknowns(in)) {
      if (!general.contains(u)) continue;
      switch (u.kind) {
        case Unknown::Kind::Type: {
          Type var = type_var(names.type());
          common.type_vars.push_back(var);
          unifier.settle(u, var);
          break;
        }
        case Unknown::Kind::DType: {
          DType unknown = DType::infer(static_cast<uint32_t>(u.id));
          common.dtype_vars.emplace_back(dtype_var(names.dtype()), unifier.class_of(unknown));
          unifier.settle(u, common.dtype_vars.back().first);
          break;
        }
        case Unknown::Kind::Dim: {
          bool shown = dims == Dims::All;
          for (Type type : types) {
            Type settled = resolve(type);
            if (settled->kind == TypeKind::Function)
              for (Type param : settled->params()) shown = shown || shows(param, unifier.dim_of(u));
          }
          if (!shown) {
            unifier.settle_outside(u);
            break;
          }
          common.dim_vars.push_back(dim_var(names.dim()));
          made_general_.insert(common.dim_vars.back());
          unifier.settle(u, common.dim_vars.back());
          break;
        }
      }
    }
  };
  for (Type type : types) quantify(type);
  for (const Constraint& c : constraints) {
    for (Type t : c.args) quantify(t);
    quantify(c.result);
  }
  common.specialised |= !common.dtype_vars.empty();
  auto final_type = [&](Type t) { return resolve(t)->has_infer ? resolve(t) : finish(t); };
  for (Constraint& c : constraints) {
    for (Type& t : c.args) t = final_type(t);
    c.result = final_type(c.result);
  }
  for (size_t k = 0; k < types.size(); ++k) {
    Scheme& s = schemes[k];
    s.dim_vars.insert(s.dim_vars.end(), common.dim_vars.begin(), common.dim_vars.end());
    s.type_vars.insert(s.type_vars.end(), common.type_vars.begin(), common.type_vars.end());
    s.dtype_vars.insert(s.dtype_vars.end(), common.dtype_vars.begin(), common.dtype_vars.end());
    s.constraints.insert(s.constraints.end(), constraints.begin(), constraints.end());
    s.specialised |= common.specialised;
    s.type = final_type(types[k]);
  }
  return schemes;
}

// --- using a scheme
// -----------------------------------------------------------------------------------------------------

Inference::Use Inference::at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name) {
  Use use{{}, nullptr, ++uses_};
  instantiate(scheme, use.substitution);
  for (const Constraint& c : scheme.constraints) discharge(c, at, name, use);
  use.type = substitute(scheme.type, use.substitution);
  return use;
}

void Inference::discharge(const Constraint& constraint, SyntaxPtr at, const std::string& name,
                          const Use& use) {
  const Declaration* op = scope_.op(constraint.op);
  if (!op) return;
  OpCallDraft draft{op, at, declaration_, {}, {}, {}};
  draft.needed_by = name;
  draft.stated = constraint.origin;
  draft.use = use.number;
  draft.call.syntax = at;
  if (!constraint.symbol.empty()) {
    // What is written with a symbol is told with it.
    SyntaxKind kind = constraint.args.size() == 2 ? SyntaxKind::Binary : SyntaxKind::Unary;
    draft.call.syntax = drafts_.make<Syntax>(kind, at->id, drafts_.copy(std::string_view(constraint.symbol)));
  }
  for (Type t : constraint.args) {
    draft.call.tensors.push_back(substitute(t, use.substitution));
    draft.call.tensor_syntax.push_back(at);
  }
  draft.call.attributes = constraint.attributes;
  draft.call.attribute_syntax.assign(constraint.attributes.size(), at);
  ExprPtr waiting = error(at, substitute(constraint.result, use.substitution));
  op_calls_.emplace(waiting, std::move(draft));
  relate(at, waiting, fmt::format("the arguments of {}", name),
         [this, waiting] { return attempt_operator(waiting); });
}

Type Inference::with_open_dims(Type type) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    for (Dim d : type->dims) dims.push_back(d->has_any ? unifier.fresh_dim() : d);
    return tensor_type(dims, type->dtype);
  }
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(with_open_dims(a));
  return with_args(type, args);
}

namespace {

Type without_dims(Type type) {
  if (type->is_tensor()) return tensor_type(std::vector<Dim>(type->dims.size(), dim_any()), type->dtype);
  if (type->args.empty()) return type;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(without_dims(a));
  return with_args(type, args);
}

bool has_open_part(Type type) {
  if (type->kind == TypeKind::Infer || type->dtype.is_infer()) return true;
  return std::any_of(type->args.begin(), type->args.end(), has_open_part);
}

}  // namespace

std::optional<std::vector<Type>> Inference::settled_params(Type function) {
  function = resolve(function);
  if (function->kind != TypeKind::Function) return std::nullopt;
  std::vector<Type> params;
  for (Type param : function->params()) {
    if (has_open_part(param)) return std::nullopt;
    params.push_back(without_dims(param));
  }
  return params;
}

void Inference::tell_at_use(size_t from, SyntaxPtr use, const std::string& name) {
  for (size_t i = from; i < diagnostics.size(); ++i) {
    Diagnostic& d = diagnostics[i];
    d.notes.insert(d.notes.begin(), {d.place, fmt::format("in {}, as it is used here", name)});
    d.place = place(use);
    d.message = fmt::format("{}: {}", name, d.message);
    d.fixes.clear();
  }
}

// --- `let %f = fn …`
// -----------------------------------------------------------------------------------------------------

// A function literal sees its own name, with one type; after its statement the name has the general type.
ExprPtr Inference::let_function(SyntaxPtr s, Type& declared) {
  size_t depth = scope_depth();
  Mark from = mark();
  unifier.enter_level();
  declared = s->child(0) ? annotation(s->child(0)) : nullptr;
  Type own = declared ? declared : unifier.fresh_type();
  const Variable* self = draft_variable(drafts_.copy(s->text), own);
  bind_local(self->name, self, s);
  SyntaxPtr literal = s->child(1);
  Head head = head_of(literal->child(0), literal->child(1), literal->child(2), env, Binder::General);
  ExprPtr fn = function(literal, literal->child(1), head, literal->child(3));
  note_type(literal, fn->type);
  bool fits = declared ? expect(s->child(1), declared, fn->type, fmt::format("`%{}`", s->text),
                                {{place(s->child(0)), "it is declared here"}})
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
  const_cast<Variable*>(self)->type = scheme.type;
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
    collect(s->child(1));
    templates_.emplace(self, std::move(made));
  }
  if (scheme.is_general() || scheme.specialised) schemes_.emplace(self, std::move(scheme));
  bind_local(self->name, self, s);
  return fn;
}

// The dims that a function is general in are bound from its arguments.
void Inference::bind_dims_of(ExprPtr function, const Scheme& scheme) {
  if (auto* fn = as<FnExpr>(function)) const_cast<FnExpr*>(fn)->dim_vars = drafts_.copy(scheme.dim_vars);
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
ExprPtr Inference::function_statement(SyntaxPtr s, Scheme& scheme) {
  Type declared = nullptr;
  ExprPtr function = let_function(s, declared);
  const Variable* self = locals_.back().variable;
  if (auto general = schemes_.find(self); general != schemes_.end()) scheme = general->second;
  Binding bindings[] = {{self, function}};
  ExprPtr value = drafts_.make<VarExpr>(Expr{ExprKind::Var, function->type, origin(s)}, self);
  return drafts_.make<BlockExpr>(Expr{ExprKind::Block, function->type, origin(s)},
                                 drafts_.copy(std::span<const Binding>(bindings)), value);
}

ExprPtr Inference::general_local(SyntaxPtr s, const Variable* variable) {
  const Scheme scheme = schemes_.at(variable);
  std::string name = fmt::format("`%{}`", variable->name);
  Use use = at_use(scheme, s, name);
  if (!scheme.specialised) return drafts_.make<VarExpr>(Expr{ExprKind::Var, use.type, origin(s)}, variable);
  ExprPtr waiting = error(s, use.type);
  if (!templates_.contains(variable)) return waiting;
  relate(s, waiting, fmt::format("the arguments of {}", name),
         [=, this] { return attempt_copy(waiting, s, variable, use.number); });
  return waiting;
}

bool Inference::attempt_copy(ExprPtr waiting, SyntaxPtr s, const Variable* variable, size_t use) {
  if (broken_uses_.contains(use)) return unifier.unify(waiting->type, error_type()), true;
  auto params = settled_params(waiting->type);
  if (!params) return false;
  Template::Copy& copy = copy_at(templates_.at(variable), *params, s);
  if (resolve(copy.made)->kind == TypeKind::Infer) return false;
  if (copy.broken) {
    unifier.unify(waiting->type, error_type());
    return true;
  }
  std::string name = fmt::format("`%{}`", variable->name);
  Type type = at_use(copy.scheme, s, name).type;
  expect(s, waiting->type, type, name);
  replacements_[waiting] = drafts_.make<VarExpr>(Expr{ExprKind::Var, type, origin(s)}, copy.variable);
  return true;
}

Inference::Template::Copy& Inference::copy_at(Template& of, const std::vector<Type>& params, SyntaxPtr use) {
  for (Template::Copy& known : of.copies)
    if (known.params == params) return known;
  SyntaxPtr let = of.let, literal = let->child(1);
  const Variable* self = draft_variable(drafts_.copy(let->text), nullptr);
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
  const_cast<Variable*>(self)->type = function_type(head.params, head.result);
  if (let->child(0)) unifier.unify(self->type, annotation(let->child(0)));
  bind_local(self->name, self, let);
  copy.function = function(literal, literal->child(1), head, literal->child(3));
  unifier.leave_level();
  copy.scheme = generalise(from, {copy.function->type}, {Scheme{head.dim_vars, {}}}, Dims::Shown)[0];
  bind_dims_of(copy.function, copy.scheme);
  const_cast<Variable*>(self)->type = copy.scheme.type;
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
// -----------------------------------------------------------------------------------------------------

ExprPtr Inference::global_at(SyntaxPtr s, std::string_view name, const Scheme& scheme) {
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
    return drafts_.make<GlobalExpr>(Expr{ExprKind::Global, type, origin(s)}, name, drafts_.copy(dims),
                                    drafts_.copy(types), scope_.module());
  bool annotated = scope_.is_annotated(name);
  size_t number = use.number;
  ExprPtr waiting = error(s, type);
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

bool Inference::attempt_specialised(ExprPtr waiting, SyntaxPtr s, std::string_view name, bool annotated,
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
    replacements_[waiting] = drafts_.make<GlobalExpr>(Expr{ExprKind::Global, waiting->type, origin(s)},
                                                      drafts_.copy(std::string_view(key)),
                                                      drafts_.copy(written), std::span<const Type>(), home);
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
  replacements_[waiting] =
      drafts_.make<GlobalExpr>(Expr{ExprKind::Global, type, origin(s)}, drafts_.copy(std::string_view(key)),
                               drafts_.copy(dims), drafts_.copy(types), home);
  return true;
}

}  // namespace quern
