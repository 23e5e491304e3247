#include "frontend/infer/calls/name_uses.h"

#include <fmt/format.h>

#include "frontend/syntax/called_words.h"

namespace quern {

DraftPtr NameUses::local(SyntaxPtr s) {
  const Variable* variable = nullptr;
  if (const LocalName* known = names_.find(s->text))
    variable = known->variable;
  else if (const TopLevelVariable* top = scope_.variable(s->text))
    variable = parts_.copies.top_level(*top);
  if (variable && parts_.general.schemes.contains(variable)) return parts_.copies.use(s, variable);
  if (variable) return drafts_.read(origin(s), variable, variable->type);
  unknown_.report_variable(s);
  return error(s);
}

DraftPtr NameUses::global(SyntaxPtr s) {
  const Group& group = context_.group;
  auto member = group.types.find(s->text);
  if (member != group.types.end()) {
    auto copy = group.names.find(s->text);
    std::string_view name = copy == group.names.end() ? s->text : std::string_view(copy->second);
    return drafts_.form(origin(s), member->second,
                        GlobalExpr{.name = drafts_.copy(name), .module = scope_.module()});
  }
  if (!scope_.has_global(s->text)) {
    if (scope_.in_broken_import(s->text)) return broken_elsewhere(s);
    unknown_.report_function(s);
    return error(s);
  }
  if (const Declaration* head = scope_.global(s->text); head && has_attributes_or_packs(*head))
    return operators_.value(s, *head);
  const Scheme* scheme = scope_.scheme(s->text);
  if (!scheme || contains_error(scheme->type)) return broken_elsewhere(s);
  return parts_.specialisations.use(s, s->text, *scheme);
}

DraftPtr NameUses::broken_elsewhere(SyntaxPtr s) {
  context_.uses_broken = true;
  return error(s);
}

DraftPtr NameUses::bare(SyntaxPtr s, Type wanted) {
  const StaticEnv& statics = names_.env.statics;
  if (auto bound = statics.find(s->text); bound != statics.end()) {
    const StaticValue& value = bound->second;
    if (value.as_dim())
      return drafts_.form(origin(s), scalar_type(DType::index()), DimValueExpr{.dim = value.as_dim()});
    if (value.as_float() || value.as_bool()) return literals_.value(s, value);
  }
  if (const DataDefinition* data = scope_.data_of_constructor(s->text))
    return constructors_.construct(s, s, *data, wanted);
  if (const Declaration* op = scope_.op(s->text)) return operators_.value(s, *op);
  if (find_called_word(s->text)) {
    report(DiagnosticKind::NoValueHere, s,
           fmt::format("`{0}` is no value by itself: it is called, `{0}(…)`", s->text));
    return error(s);
  }
  unknown_.report(s, DiagnosticKind::UnknownName, "name");
  return error(s);
}

}  // namespace quern
