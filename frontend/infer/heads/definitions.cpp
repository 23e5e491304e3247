// The heads of definitions.

#include <fmt/format.h>

#include "frontend/infer/heads/heads.h"

namespace quern {

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

Diagnostic missing_signature(const Declaration& def) {
  const auto at = [&](SyntaxPtr node, Part part = Part::Whole) {
    return Place{{def.id, node->id}, {}, part};
  };
  const SyntaxPtr params = params_of(def.syntax);
  for (SyntaxPtr p : params->children)
    if (p->is(SyntaxKind::AttributeParam) && !p->child(0))
      return {DiagnosticKind::MissingSignature,
              at(p),
              fmt::format("`{0}` is an attribute without a type: a parameter is `%{0}`", p->text),
              {},
              {Fix{"write `%`", {{at(p, Part::Before), "%"}}}}};
  const bool is_function = def.name.starts_with("@");
  return {
      DiagnosticKind::MissingSignature,
      at(params),
      is_function
          ? fmt::format(
                "`{}` has attributes, packs or clauses: write the types of its parameters and of its result",
                def.name)
          : fmt::format(
                "without `@` this is an operator: write the types of its parameters and of its result, or "
                "`def @{}` for a function",
                def.name),
      {},
      {}};
}

// The head of a definition whose scheme is already known, with the same dims, so that its body is checked
// against them. Its dtype parameters are unknowns that the body must not bind.
Head Heads::from_annotations(SyntaxPtr def, const Annotations& annotations) {
  const Scheme& scheme = annotations.scheme;
  Substitution dtypes;
  Head head{{}, nullptr, {}, scheme.dim_vars, scheme.type_vars, {}};
  for (const auto& [name, dim] : annotations.dims) head.env.statics.insert_or_assign(name, StaticValue(dim));
  for (SyntaxPtr n : def->child(0) ? def->child(0)->children : std::span<const SyntaxPtr>()) {
    std::string name(n->text);
    for (Type t : scheme.type_vars)
      if (t->name == name) head.env.types.insert_or_assign(name, t);
    for (const auto& [t, _] : scheme.dtype_vars) {
      if (to_string(t) != name) continue;
      DType unknown = unifier_.fresh_dtype(DTypeClass::Any);
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

Head Heads::of_definition(const Declaration& def, const Scheme** annotated) {
  context_.declaration = def.id;
  const Annotations* known =
      fully_annotated(def.syntax) ? scope_.annotations(std::string_view(def.name).substr(1)) : nullptr;
  if (annotated) *annotated = known ? &known->scheme : nullptr;
  if (!known || contains_error(known->scheme.type))
    return of(def.syntax->child(0), params_of(def.syntax), def.syntax->child(2), {}, Binder::General);
  diagnostics_.insert(diagnostics_.end(), known->diagnostics.begin(), known->diagnostics.end());
  return from_annotations(def.syntax, *known);
}

// A dtype parameter that the body binds to a dtype or to another parameter is not a parameter.
void Heads::check_written_dtypes(SyntaxPtr at, const Head& head) {
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

}  // namespace quern
