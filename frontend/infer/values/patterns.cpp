// Patterns, and the variables that they bind.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/infer/values/coverage.h"
#include "frontend/infer/values/fields.h"
#include "frontend/infer/values/patterns.h"
#include "frontend/text/suggest.h"

namespace quern {

PatternPtr Patterns::wildcard(SyntaxPtr s, Type type) {
  return drafts_.arena().make<Pattern>(PatternKind::Wildcard, type, origin(s));
}

PatternPtr Patterns::pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
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

PatternPtr Patterns::variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
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

PatternPtr Patterns::parts_pattern(std::span<const SyntaxPtr> written, const Pattern& head,
                                   std::span<const Type> types, PatternWalk& walk) {
  std::vector<PatternPtr> parts;
  for (size_t i = 0; i < written.size(); ++i) {
    const Type type = i < types.size() ? types[i] : error_type();
    parts.push_back(written[i] ? pattern(written[i], type, walk)
                               : drafts_.arena().make<Pattern>(PatternKind::Wildcard, type, head.origin));
  }
  // A pattern with too few or too many parts is reported, but its variables are still bound.
  if (parts.size() != types.size())
    return drafts_.arena().make<Pattern>(PatternKind::Wildcard, head.type, head.origin);
  Pattern made = head;
  made.parts = drafts_.copy(parts);
  return drafts_.arena().make<Pattern>(made);
}

void Patterns::report_unknown_constructor(SyntaxPtr s) {
  auto near = did_you_mean(s->text, scope_.names(Scope::Names::Constructors));
  const bool is_bare = !near && s->children.empty();
  std::vector<Fix> fixes;
  if (is_bare) {
    Place before = place(s);
    before.part = Part::Before;
    fixes.push_back({fmt::format("write `%{}`", s->text), {{before, "%"}}});
  }
  report(DiagnosticKind::UnknownName, s,
         fmt::format("unknown constructor `{}`{}", s->text,
                     near      ? "; did you mean `" + *near + "`?"
                     : is_bare ? fmt::format("; a variable is written `%{}`", s->text)
                               : ""),
         {}, std::move(fixes));
}

namespace {

std::vector<SyntaxPtr> without_names(SyntaxPtr pattern) {
  std::vector<SyntaxPtr> parts;
  for (SyntaxPtr part : pattern->children)
    parts.push_back(part->is(SyntaxKind::FieldPattern) ? part->child(0) : part);
  return parts;
}

}  // namespace

// The parts of a pattern by field, positionally or by name; null for a field without a part. Nothing after a
// diagnostic.
std::optional<std::vector<SyntaxPtr>> Patterns::in_order_of(SyntaxPtr s, const DataConstructor& constructor,
                                                            const Note& declared) {
  const size_t names = static_cast<size_t>(
      std::ranges::count_if(s->children, [](SyntaxPtr part) { return part->is(SyntaxKind::FieldPattern); }));
  if (names == 0) return without_names(s);
  if (names < s->children.size()) {
    report(
        DiagnosticKind::PatternMismatch, s,
        "the parts of this pattern have names or have none: name all of them, or write them in the order of "
        "the fields",
        {declared});
    return std::nullopt;
  }
  std::vector<SyntaxPtr> parts(constructor.fields.size(), nullptr);
  for (SyntaxPtr part : s->children) {
    auto field = std::ranges::find(constructor.fields, part->text, &DataField::name);
    if (field == constructor.fields.end()) {
      Place at = place(part);
      at.part = Part::Head;
      at.length = static_cast<uint32_t>(part->text.size());
      Suggestion meant = suggest_field(constructor, part->text, at);
      diagnostics_.push_back(
          {DiagnosticKind::UnknownField,
           at,
           fmt::format("`{}` has no field `{}`{}", constructor.name, part->text, meant.text),
           {declared},
           std::move(meant.fixes)});
      return std::nullopt;
    }
    SyntaxPtr& known = parts[static_cast<size_t>(field - constructor.fields.begin())];
    if (known) {
      report(DiagnosticKind::GivenTwice, part,
             fmt::format("the field `{}` stands twice in this pattern", part->text),
             {{place(known), "it stands here, too"}});
      return std::nullopt;
    }
    known = part->child(0);
  }
  return parts;
}

PatternPtr Patterns::constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  auto give_up = [&] {
    walk.sound = false;
    return parts_pattern(without_names(s), {PatternKind::Wildcard, type, origin(s)}, {}, walk);
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
  parts_.general.instantiate(data->header.scheme(), substitution);
  if (!unifier_.unify(type, substitute(data->header.type, substitution))) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("`{}` makes values of type `{}`, and what is matched here is {}", constructor->name,
                       data->name, unifier_.describe(type)),
           {declared});
    return give_up();
  }
  std::vector<Type> types;
  for (const DataField& field : constructor->fields) types.push_back(substitute(field.type, substitution));
  std::optional<std::vector<SyntaxPtr>> parts = in_order_of(s, *constructor, declared);
  if (!parts) return give_up();
  size_t given = parts->size();
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
      *parts,
      {PatternKind::Constructor, type, origin(s), nullptr, constructor->interned, drafts_.copy(s->text)},
      types, walk);
}

PatternPtr Patterns::tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  std::vector<Type> types;
  for (size_t i = 0; i < s->children.size(); ++i) types.push_back(unifier_.fresh_type());
  if (!unifier_.unify(type, tuple_type(types))) {
    const Type matched = resolve(type);
    const bool is_longer = matched->kind == TypeKind::Tuple && matched->args.size() > types.size();
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("this pattern is of a tuple of {} field{}, and what is matched here is {}{}",
                       types.size(), types.size() == 1 ? "" : "s", unifier_.describe(type),
                       is_longer ? "; `_` stands for a field that is left out" : ""));
    walk.sound = false;
    return parts_pattern(s->children, {PatternKind::Wildcard, type, origin(s)}, {}, walk);
  }
  return parts_pattern(s->children, {PatternKind::Tuple, type, origin(s)}, types, walk);
}

// --- patterns of `let`

namespace {

bool takes_all(PatternPtr pattern) {
  if (pattern->constructor && pattern->constructor->siblings.size() > 1) return false;
  return std::ranges::all_of(pattern->parts, takes_all);
}

}  // namespace

PatternPtr Patterns::of_let(SyntaxPtr let, Type type) {
  PatternWalk walk{names_.depth(), true};
  PatternPtr made = pattern(let->child(0), type, walk);
  if (!walk.sound || takes_all(made)) return made;
  std::string missing;
  for (const std::string& one : coverage_of({made}).missing)
    missing += (missing.empty() ? "`" : ", `") + one + "`";
  report(
      DiagnosticKind::RefutablePattern, let->child(0),
      fmt::format("this pattern leaves out {}, and a `let` takes every value: write `match`, with an arm for "
                  "each case",
                  missing));
  return made;
}

// The part of a value bound by a pattern variable: by field accesses, or by a match if a constructor's fields
// have no names.
DraftPtr Patterns::part(PatternPtr pattern, const Variable* variable, DraftPtr whole) {
  if (pattern->kind == PatternKind::Variable) return pattern->variable == variable ? whole : nullptr;
  for (uint32_t i = 0; i < pattern->parts.size(); ++i) {
    PatternPtr below = pattern->parts[i];
    const Constructor* made_by = pattern->constructor;
    std::string_view name = made_by ? made_by->fields[i] : "";
    DraftPtr field = made_by && name.empty() ? field_by_match(*pattern, i, whole)
                                             : drafts_.form(whole->origin, below->type,
                                                            FieldExpr{.index = i, .name = name}, {whole});
    if (DraftPtr found = part(below, variable, field)) return found;
  }
  return nullptr;
}

DraftPtr Patterns::field_by_match(const Pattern& pattern, size_t field, DraftPtr whole) {
  Arena& arena = drafts_.arena();
  const Variable* variable = drafts_.variable("part", pattern.parts[field]->type);
  std::vector<PatternPtr> parts;
  for (PatternPtr part : pattern.parts)
    parts.push_back(arena.make<Pattern>(PatternKind::Wildcard, part->type, part->origin));
  parts[field] =
      arena.make<Pattern>(PatternKind::Variable, variable->type, pattern.parts[field]->origin, variable);
  Pattern head = pattern;
  head.parts = drafts_.copy(parts);
  const std::vector<MatchArm> arms{{arena.make<Pattern>(head), nullptr}};
  return drafts_.form(whole->origin, variable->type, MatchExpr{.arms = drafts_.copy(arms), .partial = false},
                      {whole, drafts_.read(whole->origin, variable, variable->type)});
}

void Patterns::bind_parts(PatternPtr pattern, DraftPtr whole, size_t first,
                          std::vector<DraftBinding>& bindings) {
  // Compute the value once.
  if (!form_of<VarExpr>(whole) && names_.depth() > first) {
    const Variable* all = drafts_.variable("parts", whole->type);
    bindings.push_back({all, whole});
    whole = drafts_.read(whole->origin, all, whole->type);
  }
  for (size_t i = first; i < names_.depth(); ++i) {
    const Variable* bound = names_.locals()[i].variable;
    DraftPtr value = part(pattern, bound, whole);
    // A pattern with an error has no such part.
    if (!value) value = drafts_.error(whole->origin);
    DraftPtr exact = checks_.opened(value, resolve(bound->type), bound->name);
    if (exact != value) {
      bound = drafts_.variable(bound->name, exact->type);
      names_.rebind(i, bound);
    }
    bindings.push_back({bound, exact});
  }
  if (names_.depth() == first) bindings.push_back({nullptr, whole});
}

}  // namespace quern
