#include "frontend/infer/heads/heads.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "frontend/infer/context/open_types.h"
#include "frontend/infer/gradual/open_dims.h"
#include "frontend/signature/declared_types.h"
#include "frontend/static/metadata.h"

namespace quern {

namespace {

// Infers the kinds of the parameters in brackets from their uses.
struct ParameterUses {
  Scope& scope;
  std::set<std::string_view> types = {}, dtypes = {}, packs = {};

  void collect(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::NamedType)) return named(s);
    if (s->is(SyntaxKind::Spread) && s->child(0)->is(SyntaxKind::Name)) packs.insert(s->child(0)->text);
    if (s->is(SyntaxKind::TensorType)) {
      if (s->child(0)->is(SyntaxKind::Name)) packs.insert(s->child(0)->text);
      if (s->child(1)->is(SyntaxKind::Name)) dtypes.insert(s->child(1)->text);
    }
    for (SyntaxPtr c : s->children) collect(c);
  }

 private:
  void named(SyntaxPtr s) {
    types.insert(s->text);
    if (s->children.empty()) return;
    const std::span<const Type> parameters = parameters_of(s->text, scope);
    for (size_t i = 0; i < s->children.size(); ++i) {
      const Type parameter = i < parameters.size() ? parameters[i] : nullptr;
      if (parameter && parameter->kind == TypeKind::Dim) continue;
      if (parameter && parameter->is_tensor())
        dtypes.insert(s->children[i]->text);
      else
        collect(s->children[i]);
    }
  }
};

// The number of dims of a pack, from the first parameter whose shape uses it.
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

void Heads::bind_type_params(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Binder binder,
                             const std::vector<Type>* given, Head& head) {
  ParameterUses uses{scope_};
  uses.collect(params);
  uses.collect(result);
  for (SyntaxPtr p : type_params ? type_params->children : std::span<const SyntaxPtr>()) {
    std::string name(p->text);
    if (uses.dtypes.contains(p->text)) {
      DType dtype = unifier_.fresh_dtype(DTypeClass::Any);
      if (binder == Binder::General) head.dtype_vars.emplace_back(p->text, dtype);
      head.env.statics.insert_or_assign(name, StaticValue(dtype));
    } else if (uses.packs.contains(p->text)) {
      if (auto rank = given ? rank_of_pack(p->text, params, *given) : std::nullopt) {
        StaticList dims;
        for (size_t i = 0; i < *rank; ++i) dims.emplace_back(unifier_.fresh_dim());
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
      Type type = binder == Binder::General ? type_var(p->text) : unifier_.fresh_type();
      if (binder == Binder::General) head.type_vars.push_back(type);
      head.env.types.insert_or_assign(name, type);
    } else {
      Dim dim = binder == Binder::Once ? unifier_.fresh_dim() : dim_var(p->text);
      if (binder != Binder::Once) head.dim_vars.push_back(dim);
      head.env.statics.insert_or_assign(name, StaticValue(dim));
    }
  }
}

Head Heads::of(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, const TypeEnv& outer, Binder binder,
               const std::vector<Type>* given) {
  Head head{{}, nullptr, outer, {}, {}, {}};
  bind_type_params(type_params, params, result, binder, given, head);
  declare_missing_dims(type_params, params, result, head);
  for (SyntaxPtr p : params->children) {
    if (p->is(SyntaxKind::AttributeParam)) continue;
    Type type = p->child(0) && !names_open_pack(p->child(0), head.env)
                    ? names_.annotation(p->child(0), head.env)
                    : unifier_.fresh_type();
    type = open_any(type, p->text, &head.dim_vars);
    if (given && head.params.size() < given->size()) unifier_.unify(type, (*given)[head.params.size()]);
    head.params.push_back(type);
  }
  bool written = result && !names_open_pack(result, head.env);
  head.result = written ? names_.annotation(result, head.env) : unifier_.fresh_type();
  if (given && given->size() == head.params.size() + 1)
    unifier_.unify(head.result, with_open_result(given->back(), unifier_));
  return head;
}

// `Primitive=1`, `hash="…"`: compiler annotations of functions, kept as written.
std::string Heads::attribute_text(SyntaxPtr value) {
  if (value->is(SyntaxKind::Meta)) {
    size_t bracket = value->text.find('[');
    return fmt::format("meta[{}]{}", value->text.substr(0, bracket), value->text.substr(bracket));
  }
  auto known = names_.evaluator().evaluate(value, names_.env.statics);
  return known ? to_string(*known) : "";
}

std::vector<const Variable*> Heads::bind_params(SyntaxPtr params, const Head& head,
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
    // `%x.name` is an annotation of %x.
    for (SyntaxPtr noted : p->children.subspan(1))
      attributes.push_back({drafts_.copy(fmt::format("%{}.{}", p->text, noted->text)),
                            drafts_.copy(attribute_text(noted->child(0)))});
    variables.push_back(drafts_.variable(p->text, head.params[variables.size()]));
    names_.bind(variables.back()->name, variables.back(), p);
    context_.node_types.note(origin(p), variables.back()->type);
  }
  return variables;
}

}  // namespace quern
