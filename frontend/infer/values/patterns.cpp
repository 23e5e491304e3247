// Patterns, and the variables that they bind.

#include <fmt/format.h>

#include "frontend/infer/values/matches.h"
#include "frontend/text/suggest.h"

namespace quern {

PatternPtr Matches::wildcard(SyntaxPtr s, Type type) {
  return drafts_.arena().make<Pattern>(PatternKind::Wildcard, type, origin(s));
}

PatternPtr Matches::pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  context_.node_types.set(origin(s), type);
  switch (s->kind) {
    case SyntaxKind::VariablePattern: return variable_pattern(s, type, walk);
    case SyntaxKind::ConstructorPattern: return constructor_pattern(s, type, walk);
    case SyntaxKind::TuplePattern: return tuple_pattern(s, type, walk);
    case SyntaxKind::WildcardPattern: break;
    default: walk.sound = false; break;  // did not parse
  }
  return wildcard(s, type);
}

PatternPtr Matches::variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  Type declared = s->child(0) ? names_.annotation(s->child(0)) : type;
  if (s->child(0))
    assignments_.expect(s->child(0), type, declared, fmt::format("the annotation of `%{}`", s->text));
  for (size_t i = walk.first_local; i < names_.depth(); ++i) {
    if (names_.locals()[i].name != s->text) continue;
    report(DiagnosticKind::DuplicateBinding, s,
           fmt::format("`%{}` is bound twice in this pattern; give one of them another name", s->text),
           {{*names_.place_of(names_.locals()[i].variable), "it is bound here, too"}});
    return wildcard(s, type);
  }
  const Variable* variable = drafts_.variable(s->text, declared);
  names_.bind(variable->name, variable, s);
  return drafts_.arena().make<Pattern>(PatternKind::Variable, type, origin(s), variable);
}

PatternPtr Matches::parts_pattern(SyntaxPtr s, const Pattern& head, std::span<const Type> types,
                                  PatternWalk& walk) {
  std::vector<PatternPtr> parts;
  for (size_t i = 0; i < s->children.size(); ++i)
    parts.push_back(pattern(s->child(i), i < types.size() ? types[i] : error_type(), walk));
  // A pattern with too few or too many parts is reported; its variables are known all the same.
  if (parts.size() != types.size())
    return drafts_.arena().make<Pattern>(PatternKind::Wildcard, head.type, head.origin);
  Pattern made = head;
  made.parts = drafts_.copy(parts);
  return drafts_.arena().make<Pattern>(made);
}

void Matches::report_unknown_constructor(SyntaxPtr s) {
  auto near = did_you_mean(s->text, scope_.names(Scope::Names::Constructors));
  report(DiagnosticKind::UnknownName, s,
         fmt::format("unknown constructor `{}`{}", s->text,
                     near                  ? "; did you mean `" + *near + "`?"
                     : s->children.empty() ? fmt::format("; a variable is written `%{}`", s->text)
                                           : ""));
}

PatternPtr Matches::constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  auto give_up = [&] {
    walk.sound = false;
    return parts_pattern(s, {PatternKind::Wildcard, type, origin(s)}, {}, walk);
  };
  const DataDefinition* data = scope_.data_of_constructor(s->text);
  const DataConstructor* constructor = data ? find_constructor(*data, s->text) : nullptr;
  if (!constructor) {
    report_unknown_constructor(s);
    return give_up();
  }
  Note declared{
      Place{{data->declaration, constructor->node}, {}},
      fmt::format("`{}` is declared here, as a constructor of `{}`", constructor->name, data->name)};
  Substitution substitution;
  parts_.general.instantiate(Scheme{{}, data->header.type_vars, data->header.type}, substitution);
  if (!unifier_.unify(type, substitute(data->header.type, substitution))) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("`{}` makes values of type `{}`, and what is matched here is {}", constructor->name,
                       data->name, unifier_.describe(type)),
           {declared});
    return give_up();
  }
  std::vector<Type> types;
  for (const DataField& field : constructor->fields) types.push_back(substitute(field.type, substitution));
  size_t given = s->children.size();
  if (given != types.size()) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("`{}` has {} field{}, and this pattern names {}; write `{}`", constructor->name,
                       types.size(), types.size() == 1 ? "" : "s", given,
                       types.empty()
                           ? constructor->name
                           : fmt::format("{}({})", constructor->name,
                                         fmt::join(std::vector<std::string>(types.size(), "_"), ", "))),
           {declared});
    walk.sound = false;
  }
  return parts_pattern(
      s, {PatternKind::Constructor, type, origin(s), nullptr, constructor->interned, drafts_.copy(s->text)},
      types, walk);
}

PatternPtr Matches::tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  std::vector<Type> types;
  for (size_t i = 0; i < s->children.size(); ++i) types.push_back(unifier_.fresh_type());
  if (!unifier_.unify(type, tuple_type(types))) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("this pattern is of a tuple of {} field{}, and what is matched here is {}",
                       types.size(), types.size() == 1 ? "" : "s", unifier_.describe(type)));
    walk.sound = false;
    return parts_pattern(s, {PatternKind::Wildcard, type, origin(s)}, {}, walk);
  }
  return parts_pattern(s, {PatternKind::Tuple, type, origin(s)}, types, walk);
}

}  // namespace quern
