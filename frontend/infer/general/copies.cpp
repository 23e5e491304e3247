// Function literals of `let`s that are specialised per rank and dtype of their uses.

#include "frontend/infer/general/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/infer/context/open_types.h"

namespace quern {

bool binds_function(SyntaxPtr s) {
  bool names = s->is(SyntaxKind::GraphLet) || (s->is(SyntaxKind::Let) && s->text != "_");
  return names && literal_of(s)->is(SyntaxKind::Fn);
}

SyntaxPtr literal_of(SyntaxPtr s) { return s->child(s->is(SyntaxKind::GraphLet) ? 0 : 1); }

SyntaxPtr annotation_of(SyntaxPtr s) { return s->is(SyntaxKind::Let) ? s->child(0) : nullptr; }

void bind_dims_of(DraftPtr function, const Scheme& scheme, Drafts& drafts) {
  if (auto* fn = form_of<FnExpr>(function)) fn->dim_vars = drafts.copy(scheme.dim_vars);
}

void Copies::keep(SyntaxPtr let, const Variable* variable) {
  Template made{let, context_.declaration, names_.env, {}};
  std::set<std::string_view> names;
  std::function<void(SyntaxPtr)> collect = [&](SyntaxPtr n) {
    if (!n) return;
    if ((n->is(SyntaxKind::Local) || n->is(SyntaxKind::GraphName)) && names.insert(n->text).second)
      if (const LocalName* known = names_.find(n->text))
        made.captured.push_back({known->name, known->variable});
    for (SyntaxPtr c : n->children) collect(c);
  };
  collect(literal_of(let));
  templates_.emplace(variable, std::move(made));
}

std::optional<std::vector<Copies::Copy>> Copies::of(const Variable* variable) const {
  auto found = templates_.find(variable);
  if (found == templates_.end()) return std::nullopt;
  std::vector<Copy> made;
  for (const Template::At& copy : found->second.copies)
    if (!copy.broken) made.push_back({copy.variable, copy.function});
  return made;
}

Copies::Literal Copies::literal_named(std::string_view name) const {
  Literal found;
  for (const auto& [variable, made] : templates_)
    if (variable->name == name) found = {literal_of(made.let)->child(1), made.declaration};
  return found;
}

const Variable* Copies::top_level(const TopLevelVariable& top) {
  const Variable* variable = top.variable;
  if (!context_.final_variables.try_emplace(variable, variable).second) return variable;
  names_.set_place(variable, top.place);
  if (top.scheme.is_general() || top.scheme.specialised) general_.schemes.emplace(variable, top.scheme);
  if (!top.literal) return variable;
  // A statement's polymorphic function refers to the names visible at the statement.
  Template made{top.literal->syntax, top.literal->id, {}, {}};
  for (const std::shared_ptr<const TopLevelVariable>& seen : top.captured)
    made.captured.push_back({seen->variable->name, top_level(*seen)});
  templates_.emplace(variable, std::move(made));
  earlier_.push_back(variable);
  return variable;
}

DraftPtr Copies::use(SyntaxPtr s, const Variable* variable) {
  const Scheme scheme = general_.schemes.at(variable);
  std::string name = fmt::format("`%{}`", variable->name);
  GeneralUse use = general_.at_use(scheme, s, name);
  if (!scheme.specialised) return drafts_.read(origin(s), variable, use.type);
  DraftPtr waiting = drafts_.make<GeneralUseDraft>(origin(s), use.type);
  if (!templates_.contains(variable)) return waiting;
  relations_.relate(s, waiting, fmt::format("the arguments of {}", name),
                    [=, this] { return attempt(waiting, s, variable, use.number); });
  return waiting;
}

namespace {

// The written dtype of a parameter of open rank: `Tensor[(..s, n), float32]` where `s` is a type parameter of
// the literal.
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

bool Copies::has_written_dtypes(const Template& made, Type function, SyntaxPtr at, std::string_view name) {
  if (function->kind != TypeKind::Function) return true;
  SyntaxPtr literal = literal_of(made.let);
  size_t i = 0;
  for (SyntaxPtr param : literal->child(1)->children) {
    if (!param->is(SyntaxKind::TensorParam) || i == function->params().size()) continue;
    Type given = resolve(function->params()[i++]);
    auto dtype = dtype_of_open(param, literal->child(0));
    if (!dtype || given->kind == TypeKind::Infer || given->is_error()) continue;
    if (given->is_tensor() && unifier_.unify(*dtype, given->dtype)) continue;
    report(given->is_tensor() ? DiagnosticKind::DTypeMismatch : DiagnosticKind::TypeMismatch, at,
           fmt::format("argument {} of `%{}` has to be a tensor of {}, but this is {}", i, name,
                       to_string(*dtype), unifier_.describe(given)),
           {{Place{{made.declaration, param->id}, {}}, fmt::format("`%{}` is declared here", param->text)}});
    return false;
  }
  return true;
}

bool Copies::attempt(DraftPtr waiting, SyntaxPtr s, const Variable* variable, size_t use) {
  if (operators_.is_broken(use)) return unifier_.unify(waiting->type, error_type()), true;
  Template& made = templates_.at(variable);
  if (!has_written_dtypes(made, resolve(waiting->type), s, variable->name))
    return unifier_.unify(waiting->type, error_type()), true;
  auto params = settled_params(waiting->type, unifier_);
  if (!params) return false;
  // What is wrong with an argument is reported there.
  if (std::ranges::any_of(*params, contains_error)) return unifier_.unify(waiting->type, error_type()), true;
  Template::At& copy = copy_at(made, *params, s);
  if (resolve(copy.made)->kind == TypeKind::Infer) return false;
  if (copy.broken) {
    unifier_.unify(waiting->type, error_type());
    return true;
  }
  std::string name = fmt::format("`%{}`", variable->name);
  Type type = general_.at_use(copy.scheme, s, name).type;
  assignments_.expect(s, waiting->type, type, name);
  waiting->replacement = drafts_.read(origin(s), copy.variable, type);
  return true;
}

Copies::Template::At& Copies::copy_at(Template& of, const std::vector<Type>& params, SyntaxPtr use) {
  for (Template::At& known : of.copies)
    if (known.params == params) return known;
  SyntaxPtr let = of.let;
  Variable* self = drafts_.variable(let->text, nullptr, let->is(SyntaxKind::GraphLet));
  Template::At& copy = of.copies.emplace_back(Template::At{params, self, nullptr, {}, unifier_.fresh_type()});
  constexpr int kMostNested = 200;
  if (context_.node_types.copying >= kMostNested)
    report(DiagnosticKind::EndlessSpecialisation, use,
           fmt::format("`%{}` would need a copy of itself for each of more than {} types", let->text,
                       kMostNested));
  else
    type_copy(of, copy, self, use);
  unifier_.unify(copy.made, unit_type());
  return copy;
}

// Types the copy in the scope of its `let`.
void Copies::type_copy(const Template& of, Template::At& copy, Variable* self, SyntaxPtr use) {
  const size_t reported = diagnostics_.size();
  ++context_.node_types.copying;
  Names::Frame outer = names_.enter(of.env, of.captured);
  uint32_t outer_declaration = std::exchange(context_.declaration, of.declaration);
  const GeneralMark from = general_.mark();
  unifier_.enter_level();
  std::vector<Type> given;
  given.reserve(copy.params.size());
  for (Type t : copy.params) given.push_back(with_open_dims(t, unifier_));
  TypedLiteral typed = type_literal(of.let, self, given);
  copy.function = typed.function;
  unifier_.leave_level();
  copy.scheme =
      general_.generalise(from, {copy.function->type}, {Scheme{typed.dim_vars, {}}}, General::Dims::Shown)[0];
  bind_dims_of(copy.function, copy.scheme, drafts_);
  self->type = copy.scheme.type;
  names_.leave(std::move(outer));
  context_.declaration = outer_declaration;
  --context_.node_types.copying;
  if (copy.scheme.specialised && context_.error_count() == from.errors)
    report(DiagnosticKind::CannotInfer, use, "its type cannot be determined from its arguments; annotate it");
  copy.broken = context_.error_count() > from.errors;
  report_at_use(reported, of, use);
}

// Moves diagnostics reported inside a copy since `from` to the use that needs the copy. What waited elsewhere, and was decided
// meanwhile, stays where it is.
void Copies::report_at_use(size_t from, const Template& of, SyntaxPtr use) {
  const std::string name = fmt::format("`%{}`", of.let->text);
  for (size_t i = from; i < diagnostics_.size(); ++i) {
    Diagnostic& d = diagnostics_[i];
    if (d.place.origin.declaration != of.declaration || !find_node(of.let, d.place.origin.node)) continue;
    d.notes.insert(d.notes.begin(), {d.place, fmt::format("in {}, as it is used here", name)});
    d.place = place(use);
    d.message = fmt::format("{}: {}", name, d.message);
    d.fixes.clear();
  }
}

}  // namespace quern
