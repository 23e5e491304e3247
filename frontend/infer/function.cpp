// The walk of inference over functions: their heads, and their bodies.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/infer/inference.h"
#include "frontend/static/metadata.h"

namespace quern {

Type Inference::open_any(Type type, std::string_view name, std::vector<Dim>* opened) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    bool any = false;
    for (size_t i = 0; i < type->dims.size(); ++i) {
      Dim d = type->dims[i];
      if (d->kind == DimKind::Any) {
        d = dim_opened(fmt::format("{}.{}", name, i));
        if (opened) opened->push_back(d);
        any = true;
      }
      dims.push_back(d);
    }
    return any ? tensor_type(dims, type->dtype) : type;
  }
  if (type->kind != TypeKind::Tuple) return type;
  std::vector<Type> fields;
  for (size_t i = 0; i < type->args.size(); ++i)
    fields.push_back(open_any(type->args[i], fmt::format("{}.{}", name, i), opened));
  return tuple_type(fields);
}

namespace {

// What the parameters in brackets stand for is seen from where they stand.
struct ParameterUses {
  std::set<std::string_view> types, dtypes, packs;

  void collect(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::NamedType)) types.insert(s->text);
    if (s->is(SyntaxKind::Spread) && s->child(0)->is(SyntaxKind::Name)) packs.insert(s->child(0)->text);
    if (s->is(SyntaxKind::TensorType)) {
      if (s->child(0)->is(SyntaxKind::Name)) packs.insert(s->child(0)->text);
      if (s->child(1)->is(SyntaxKind::Name)) dtypes.insert(s->child(1)->text);
    }
    for (SyntaxPtr c : s->children) collect(c);
  }
};

// How many dims a pack has, of the first parameter whose shape is written with it.
std::optional<size_t> rank_of_pack(std::string_view pack, SyntaxPtr params, const std::vector<Type>& given) {
  size_t i = 0;
  for (SyntaxPtr p : params->children) {
    if (p->is(SyntaxKind::AttributeParam) || i == given.size()) continue;
    Type type = given[i++];
    SyntaxPtr written = p->child(0);
    if (!written || !written->is(SyntaxKind::TensorType) || !type->is_tensor()) continue;
    SyntaxPtr shape = written->child(0);
    if (shape->is(SyntaxKind::Name) && shape->text == pack) return type->dims.size();
    for (SyntaxPtr item : shape->children)
      if (item->is(SyntaxKind::Spread) && item->child(0)->text == pack &&
          type->dims.size() + 1 >= shape->children.size())
        return type->dims.size() + 1 - shape->children.size();
  }
  return std::nullopt;
}

}  // namespace

Head Inference::head_of(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, const TypeEnv& outer,
                        Binder binder, const std::vector<Type>* given) {
  Head head{{}, nullptr, outer, {}, {}, {}};
  ParameterUses uses;
  uses.collect(params);
  uses.collect(result);
  for (SyntaxPtr p : type_params ? type_params->children : std::span<const SyntaxPtr>()) {
    std::string name(p->text);
    if (uses.dtypes.contains(p->text)) {
      DType dtype = unifier.fresh_dtype(DTypeClass::Any);
      if (binder == Binder::General) head.dtype_vars.emplace_back(p->text, dtype);
      head.env.statics.insert_or_assign(name, StaticValue(dtype));
    } else if (uses.packs.contains(p->text)) {
      if (auto rank = given ? rank_of_pack(p->text, params, *given) : std::nullopt) {
        StaticList dims;
        for (size_t i = 0; i < *rank; ++i) dims.emplace_back(unifier.fresh_dim());
        head.env.statics.insert_or_assign(name, StaticValue::list(std::move(dims)));
      } else {
        if (binder == Binder::Once)
          report(DiagnosticKind::NotYetSupported, p,
                 fmt::format(
                     "`{}` stands for any number of dims, which a function literal that is used where it "
                     "stands cannot take; bind it by `let %f = fn …`, or write a `def`",
                     p->text));
        head.env.open_packs.insert(name);
      }
    } else if (uses.types.contains(p->text)) {
      Type type = binder == Binder::General ? type_var(p->text) : unifier.fresh_type();
      if (binder == Binder::General) head.type_vars.push_back(type);
      head.env.types.insert_or_assign(name, type);
    } else {
      Dim dim = binder == Binder::Once ? unifier.fresh_dim() : dim_var(p->text);
      if (binder != Binder::Once) head.dim_vars.push_back(dim);
      head.env.statics.insert_or_assign(name, StaticValue(dim));
    }
  }
  declare_missing_dims(type_params, params, result, head);
  for (SyntaxPtr p : params->children) {
    if (p->is(SyntaxKind::AttributeParam)) continue;
    Type type = p->child(0) && !names_open_pack(p->child(0), head.env) ? annotation(p->child(0), head.env)
                                                                       : unifier.fresh_type();
    type = open_any(type, p->text, &head.dim_vars);
    if (given && head.params.size() < given->size()) unifier.unify(type, (*given)[head.params.size()]);
    head.params.push_back(type);
  }
  bool written = result && !names_open_pack(result, head.env);
  head.result = written ? annotation(result, head.env) : unifier.fresh_type();
  if (given && given->size() == head.params.size() + 1)
    unifier.unify(head.result, with_open_result(given->back()));
  return head;
}

void Inference::declare_missing_dims(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Head& head) {
  auto insertion = [&](std::string_view name) {
    bool listed = type_params && !type_params->children.empty();
    Place at = place(listed ? type_params->children.back() : params);
    at.part = listed ? Part::After : Part::BeforeOpen;
    return Edit{at, fmt::format("{}{}{}", listed ? ", " : "[", name, listed ? "" : "]")};
  };
  std::function<void(SyntaxPtr, bool)> visit = [&](SyntaxPtr s, bool in_shape) {
    if (!s) return;
    if (s->is(SyntaxKind::TensorType)) return visit(s->child(0), true);
    if (s->is(SyntaxKind::GeneralType)) return;  // it has parameters of its own
    // One letter is no type's name: a parameter that is not declared.
    bool is_letter = s->is(SyntaxKind::NamedType) && s->text.size() == 1 && s->children.empty();
    if (is_letter && !head.env.types.contains(s->text) && !head.env.statics.contains(s->text) &&
        !scope_.data_header(s->text)) {
      report(DiagnosticKind::UnknownType, s,
             fmt::format("unknown type `{0}`; a type parameter is declared before the parameters: `[{0}]`",
                         s->text),
             {}, {{fmt::format("declare it: `[{}]` before the parameters", s->text), {insertion(s->text)}}});
      head.type_vars.push_back(type_var(s->text));
      head.env.types.insert_or_assign(std::string(s->text), head.type_vars.back());
    }
    if (in_shape && is_dim_variable(s) && !head.env.statics.contains(s->text)) {
      head.dim_vars.push_back(dim_var(name_of_dim(s, scope_.metadata(declaration_))));
      head.env.statics.insert_or_assign(std::string(s->text), StaticValue(head.dim_vars.back()));
    }
    bool is_dim =
        in_shape && s->is(SyntaxKind::Name) && s->children.empty() && !head.env.open_packs.contains(s->text);
    if (is_dim && !head.env.statics.contains(s->text) && !head.env.types.contains(s->text) &&
        !parse_dtype(s->text)) {
      report(DiagnosticKind::UndeclaredDim, s, fmt::format("the dim `{}` is not declared", s->text), {},
             {{fmt::format("declare it: `[{}]` before the parameters", s->text), {insertion(s->text)}}});
      head.dim_vars.push_back(dim_var(s->text));
      head.env.statics.insert_or_assign(std::string(s->text), StaticValue(head.dim_vars.back()));
    }
    // What is called in a shape is a function of the compile-time language.
    for (size_t i = s->is(SyntaxKind::Call) ? 1 : 0; i < s->children.size(); ++i)
      visit(s->children[i], in_shape);
  };
  for (SyntaxPtr p : params->children)
    if (p->is(SyntaxKind::TensorParam)) visit(p->child(0), false);
  visit(result, false);
}

// `Primitive=1`, `hash="…"`: what compilers note at functions. Kept as written.
std::string Inference::attribute_text(SyntaxPtr value) {
  if (value->is(SyntaxKind::Meta)) {
    size_t bracket = value->text.find('[');
    return fmt::format("meta[{}]{}", value->text.substr(0, bracket), value->text.substr(bracket));
  }
  auto known = evaluator().evaluate(value, env.statics);
  return known ? to_string(*known) : "";
}

std::vector<const Variable*> Inference::bind_params(SyntaxPtr params, const Head& head,
                                                    std::vector<FnAttribute>& attributes) {
  std::vector<const Variable*> variables;
  for (SyntaxPtr p : params->children) {
    if (is_function_attribute(p)) {
      attributes.push_back({drafts_.copy(p->text), drafts_.copy(attribute_text(p->child(1)))});
      continue;
    }
    if (!p->is(SyntaxKind::TensorParam)) {
      report(DiagnosticKind::NotYetSupported, p,
             "a function literal takes no attributes: write a `def`, whose calls give them");
      continue;
    }
    // `%x.name` is what is noted at %x.
    for (SyntaxPtr noted : p->children.subspan(1))
      attributes.push_back({drafts_.copy(fmt::format("%{}.{}", p->text, noted->text)),
                            drafts_.copy(attribute_text(noted->child(0)))});
    variables.push_back(drafts_.variable(p->text, head.params[variables.size()]));
    bind_local(variables.back()->name, variables.back(), p);
    note_type(p, variables.back()->type);
  }
  return variables;
}

DraftPtr Inference::function(SyntaxPtr at, SyntaxPtr params, const Head& head, SyntaxPtr body,
                             const Declaration* chunked) {
  size_t depth = scope_depth();
  TypeEnv outer = std::exchange(env, head.env);
  std::vector<FnAttribute> attributes;
  std::vector<const Variable*> variables = bind_params(params, head, attributes);
  bool in_chunks = chunked && !chunked->chunks.empty();
  uint32_t around = known_dims.enter(), region = known_dims.region();
  DraftPtr result = in_chunks ? chunked_body(*chunked, head.result) : infer(body, head.result);
  SyntaxPtr result_at = body ? body : at;
  while (result_at->is(SyntaxKind::Block) && !result_at->children.empty())
    result_at = result_at->children.back();
  std::vector<Note> declared;
  if (SyntaxPtr annotated = at->child(2); annotated && (at->is(SyntaxKind::Def) || at->is(SyntaxKind::Fn)))
    declared.push_back({place(annotated), "the result type is declared here"});
  if (in_chunks) {
    enter(chunked->chunks.back()->id);
    result_at = last_statement(*chunked->chunks.back());
  }
  // What is opened inside is of no meaning outside: an inferred result has `?` there.
  bool inferred = resolve(head.result)->kind == TypeKind::Infer;
  std::string what = at->is(SyntaxKind::Gradient) ? "the gradient that the clause gives" : "the result";
  expect(result_at, head.result, inferred ? closed(result->type, region) : result->type, what,
         std::move(declared), DiagnosticKind::ResultMismatch, result);
  known_dims.leave(around);
  if (in_chunks) enter(chunked->id);
  if (SyntaxPtr clause = gradient_clause_of(at))
    result = with_gradient(clause, variables, result, head.result);
  env = std::move(outer);
  leave_to(depth);
  return drafts_.form(origin(at), function_type(head.params, head.result),
                      FnExpr{.params = drafts_.copy(variables),
                             .dim_vars = drafts_.copy(head.dim_vars),
                             .attributes = drafts_.copy(attributes)},
                      {result});
}

}  // namespace quern
