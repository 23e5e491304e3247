// `@f<int32, n>`: the arguments for the parameters in brackets, in order.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/general/specialisations.h"

namespace quern {

void Specialisations::type_arguments(SyntaxPtr s, const Scheme& scheme, const Substitution& substitution) {
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
  for (size_t i = 0; i < count; ++i)
    if (!s->children[i]->is(SyntaxKind::HoleType))
      type_argument(s, s->children[i], written->children[i]->text, scheme, substitution);
}

void Specialisations::type_argument(SyntaxPtr s, SyntaxPtr argument, std::string_view name,
                                    const Scheme& scheme, const Substitution& substitution) {
  auto wrong = [&](std::string_view kind) {
    report(DiagnosticKind::WrongTypeArguments, argument,
           fmt::format("`{}` of `@{}` is {}", name, s->text, kind));
  };
  for (Dim d : scheme.dim_vars) {
    if (d->name != name) continue;
    Statics statics = names_.evaluator();
    if (!argument->is(SyntaxKind::NamedType) && !argument->is(SyntaxKind::Int)) {
      wrong("a dim");
    } else if (auto value = statics.dim(argument, names_.env.statics);
               value && !unifier_.unify(substitution.dims.at(d), *value)) {
      wrong("a dim");
    }
  }
  if (argument->is(SyntaxKind::Int)) {
    if (std::ranges::none_of(scheme.dim_vars, [&](Dim d) { return d->name == name; }))
      wrong("a type, not a dim");
    return;
  }
  for (Type t : scheme.type_vars)
    if (t->name == name) unifier_.unify(substitution.types.at(t), names_.annotation(argument));
  for (const auto& [t, _] : scheme.dtype_vars) {
    if (to_string(t) != name) continue;
    Type type = names_.annotation(argument);
    if (!type->is_scalar() || !unifier_.unify(substitution.dtypes.at(t), type->dtype)) wrong("a dtype");
  }
}

}  // namespace quern
