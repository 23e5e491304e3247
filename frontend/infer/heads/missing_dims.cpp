// Undeclared names of dims and types in annotations.

#include <fmt/format.h>

#include <functional>

#include "frontend/infer/heads/heads.h"
#include "frontend/signature/declared_types.h"
#include "frontend/static/metadata.h"

namespace quern {

void Heads::declare_missing_dims(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Head& head) {
  auto insertion = [&](std::string_view name) {
    bool listed = type_params && !type_params->children.empty();
    Place at = place(listed ? type_params->children.back() : params);
    at.part = listed ? Part::After : Part::BeforeOpen;
    return Edit{at, fmt::format("{}{}{}", listed ? ", " : "[", name, listed ? "" : "]")};
  };
  std::function<void(SyntaxPtr, bool)> visit = [&](SyntaxPtr s, bool in_shape) {
    if (!s) return;
    if (s->is(SyntaxKind::TensorType)) return visit(s->child(0), true);
    if (s->is(SyntaxKind::GeneralType)) return;  // it has its own parameters
    // A single letter is not a type name, but an undeclared parameter.
    bool is_letter = !in_shape && s->is(SyntaxKind::NamedType) && s->text.size() == 1 && s->children.empty();
    if (is_letter && !head.env.types.contains(s->text) && !head.env.statics.contains(s->text) &&
        !scope_.data_header(s->text) && !scope_.alias(s->text)) {
      report(DiagnosticKind::UnknownType, s,
             fmt::format("unknown type `{0}`; a type parameter is declared before the parameters: `[{0}]`",
                         s->text),
             {}, {{fmt::format("declare it: `[{}]` before the parameters", s->text), {insertion(s->text)}}});
      head.type_vars.push_back(type_var(s->text));
      head.env.types.insert_or_assign(std::string(s->text), head.type_vars.back());
    }
    if (in_shape && is_dim_variable(s) && !head.env.statics.contains(s->text)) {
      head.dim_vars.push_back(dim_var(name_of_dim(s, scope_.metadata(context_.declaration))));
      head.env.statics.insert_or_assign(s->text, StaticValue(head.dim_vars.back()));
    }
    bool is_dim = in_shape && (s->is(SyntaxKind::Name) || s->is(SyntaxKind::NamedType)) &&
                  s->children.empty() && !head.env.open_packs.contains(s->text);
    if (is_dim && !head.env.statics.contains(s->text) && !head.env.types.contains(s->text) &&
        !parse_dtype(s->text)) {
      report(DiagnosticKind::UndeclaredDim, s, fmt::format("the dim `{}` is not declared", s->text), {},
             {{fmt::format("declare it: `[{}]` before the parameters", s->text), {insertion(s->text)}}});
      head.dim_vars.push_back(dim_var(s->text));
      head.env.statics.insert_or_assign(s->text, StaticValue(head.dim_vars.back()));
    }
    if (s->is(SyntaxKind::NamedType) && !s->children.empty()) {
      const std::span<const Type> parameters = parameters_of(s->text, scope_);
      for (size_t i = 0; i < s->children.size(); ++i)
        visit(s->children[i], i < parameters.size() && parameters[i]->kind == TypeKind::Dim);
      return;
    }
    // A callee in a shape is a compile-time function.
    for (size_t i = s->is(SyntaxKind::Call) ? 1 : 0; i < s->children.size(); ++i)
      visit(s->children[i], in_shape);
  };
  for (SyntaxPtr p : params->children)
    if (p->is(SyntaxKind::TensorParam)) visit(p->child(0), false);
  visit(result, false);
}

}  // namespace quern
