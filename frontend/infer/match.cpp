// The walk of inference over matches and references.

#include <fmt/format.h>

#include "frontend/infer/inference.h"
#include "frontend/infer/patterns.h"
#include "frontend/text/suggest.h"

namespace quern {

// --- matches

DraftPtr Inference::match(SyntaxPtr s, Type wanted) {
  DraftPtr scrutinee = infer(s->child(0));
  std::vector<MatchArm> arms;
  std::vector<DraftPtr> bodies;
  std::vector<uint32_t> regions;
  std::vector<SyntaxPtr> at;
  bool sound = true;
  for (SyntaxPtr arm : s->children.subspan(1)) {
    size_t depth = locals_.size();
    PatternWalk walk{depth, true};
    PatternPtr pattern = this->pattern(arm->child(0), scrutinee->type, walk);
    sound = sound && walk.sound;
    uint32_t outer = known_dims.enter();
    regions.push_back(known_dims.region());
    std::vector<DraftBinding> opened = open_locals(depth, arm->child(0));
    DraftPtr body = infer(arm->child(1), wanted);
    if (!opened.empty()) body = drafts_.block(body->origin, opened, body);
    bodies.push_back(body);
    known_dims.leave(outer);
    leave_to(depth);
    at.push_back(arm->child(1));
    arms.push_back({pattern, nullptr});
  }
  bool partial = s->text == "match?";
  if (sound) check_coverage(s, arms, partial, resolve(scrutinee->type));
  std::vector<DraftPtr> parts{scrutinee};
  parts.insert(parts.end(), bodies.begin(), bodies.end());
  DraftPtr made = drafts_.form(origin(s), unifier.fresh_type(),
                               MatchExpr{.arms = drafts_.copy(arms), .partial = partial}, parts);
  return arms.empty() ? made : joined(made, bodies, regions, at);
}

// The variables of a pattern with each `?` opened, as a parameter's are.
std::vector<DraftBinding> Inference::open_locals(size_t first, SyntaxPtr at) {
  std::vector<DraftBinding> bindings;
  for (size_t i = first; i < locals_.size(); ++i) {
    const Variable* bound = locals_[i].variable;
    DraftPtr read = drafts_.read(origin(at), bound, bound->type);
    DraftPtr exact = opened(read, resolve(bound->type), bound->name);
    if (exact == read) continue;
    locals_[i].variable = drafts_.variable(bound->name, exact->type);
    variable_places_.emplace(locals_[i].variable, variable_places_.at(bound));
    bindings.push_back({locals_[i].variable, exact});
  }
  return bindings;
}

void Inference::check_coverage(SyntaxPtr s, const std::vector<MatchArm>& arms, bool partial, Type type) {
  std::vector<PatternPtr> patterns;
  patterns.reserve(arms.size());
  for (const MatchArm& arm : arms) patterns.push_back(arm.pattern);
  const DataDefinition* data = type->kind == TypeKind::Data ? scope_.data_of(type) : nullptr;
  bool no_values = data && !data->is_extern && data->constructors.empty();
  if (arms.empty() && no_values) return;
  if (arms.empty() && !partial)
    return report_at_word(DiagnosticKind::MissingCase, s, "this `match` has no arms, and so covers no case");
  Coverage coverage = coverage_of(patterns);
  for (size_t arm : coverage.unreachable)
    report(DiagnosticKind::UnreachableArm, s->child(arm + 1)->child(0),
           "this arm is never reached: the arms before it match every value that it matches");
  if (partial) return;
  if (coverage.undecided) {
    return report_at_word(
        DiagnosticKind::MissingCase, s,
        "these patterns are too entangled to tell whether they cover every case; end with `_ => …`");
  }
  if (coverage.missing.empty()) return;
  std::string missing;
  for (const std::string& one : coverage.missing) missing += (missing.empty() ? "`" : ", `") + one + "`";
  report_at_word(
      DiagnosticKind::MissingCase, s,
      fmt::format("this `match` does not cover {}; add {}, or write `match?` where a missing case is "
                  "to be a failure at run time",
                  missing, coverage.missing.size() == 1 ? "an arm for it" : "arms for them"));
  if (data)
    diagnostics.back().notes.push_back(
        {Place{{data->declaration, 1}, {}}, fmt::format("`{}` is declared here", data->name)});
}

/// Of a match as a whole: at its first word, for its text may be long.
void Inference::report_at_word(DiagnosticKind kind, SyntaxPtr match, std::string message) {
  Place place{origin(match), {}, Part::Head, static_cast<uint32_t>(match->text.size())};
  diagnostics.push_back({kind, place, std::move(message), {}, {}});
}

PatternPtr Inference::pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  auto& types = node_types[declaration_];
  if (types.size() <= s->id) types.resize(s->id + 1, nullptr);
  types[s->id] = type;
  switch (s->kind) {
    case SyntaxKind::VariablePattern: return variable_pattern(s, type, walk);
    case SyntaxKind::ConstructorPattern: return constructor_pattern(s, type, walk);
    case SyntaxKind::TuplePattern: return tuple_pattern(s, type, walk);
    case SyntaxKind::WildcardPattern: break;
    default: walk.sound = false; break;  // did not parse
  }
  return drafts_.arena().make<Pattern>(PatternKind::Wildcard, type, origin(s));
}

PatternPtr Inference::variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  Type declared = s->child(0) ? annotation(s->child(0)) : type;
  if (s->child(0)) expect(s->child(0), type, declared, fmt::format("the annotation of `%{}`", s->text));
  for (size_t i = walk.first_local; i < locals_.size(); ++i) {
    if (locals_[i].name != s->text) continue;
    report(DiagnosticKind::DuplicateBinding, s,
           fmt::format("`%{}` is bound twice in this pattern; give one of them another name", s->text),
           {{variable_places_.at(locals_[i].variable), "it is bound here, too"}});
    return drafts_.arena().make<Pattern>(PatternKind::Wildcard, type, origin(s));
  }
  const Variable* variable = drafts_.variable(s->text, declared);
  bind_local(variable->name, variable, s);
  return drafts_.arena().make<Pattern>(PatternKind::Variable, type, origin(s), variable);
}

PatternPtr Inference::parts_pattern(SyntaxPtr s, const Pattern& head, std::span<const Type> types,
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

PatternPtr Inference::constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  auto give_up = [&] {
    walk.sound = false;
    return parts_pattern(s, {PatternKind::Wildcard, type, origin(s)}, {}, walk);
  };
  const DataDefinition* data = scope_.data_of_constructor(s->text);
  const DataConstructor* constructor = data ? find_constructor(*data, s->text) : nullptr;
  if (!constructor) {
    auto near = did_you_mean(s->text, scope_.names(Scope::Names::Constructors));
    report(DiagnosticKind::UnknownName, s,
           fmt::format("unknown constructor `{}`{}", s->text,
                       near                  ? "; did you mean `" + *near + "`?"
                       : s->children.empty() ? fmt::format("; a variable is written `%{}`", s->text)
                                             : ""));
    return give_up();
  }
  Note declared{
      Place{{data->declaration, constructor->node}, {}},
      fmt::format("`{}` is declared here, as a constructor of `{}`", constructor->name, data->name)};
  Substitution substitution;
  instantiate(Scheme{{}, data->header.type_vars, data->header.type}, substitution);
  if (!unifier.unify(type, substitute(data->header.type, substitution))) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("`{}` makes values of type `{}`, and what is matched here is {}", constructor->name,
                       data->name, unifier.describe(type)),
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

PatternPtr Inference::tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk) {
  std::vector<Type> types;
  for (size_t i = 0; i < s->children.size(); ++i) types.push_back(unifier.fresh_type());
  if (!unifier.unify(type, tuple_type(types))) {
    report(DiagnosticKind::PatternMismatch, s,
           fmt::format("this pattern is of a tuple of {} field{}, and what is matched here is {}",
                       types.size(), types.size() == 1 ? "" : "s", unifier.describe(type)));
    walk.sound = false;
    return parts_pattern(s, {PatternKind::Wildcard, type, origin(s)}, {}, walk);
  }
  return parts_pattern(s, {PatternKind::Tuple, type, origin(s)}, types, walk);
}

// --- references

DraftPtr Inference::new_reference(SyntaxPtr s, SyntaxPtr content, Type wanted) {
  if (wanted) wanted = resolve(wanted);
  Type held = wanted && wanted->kind == TypeKind::Ref && leaves_dims_open(wanted) ? wanted->args[0] : nullptr;
  DraftPtr value = infer(content, held);
  // What it holds later may have other extents than what it holds first.
  if (held)
    expect(content, held, value->type, "what the reference holds", {}, DiagnosticKind::TypeMismatch, value);
  return drafts_.form(origin(s), ref_type(held ? held : value->type), RefExpr{}, {value});
}

/// The type of what the reference holds, after a diagnostic where it is none.
Type Inference::content_of(SyntaxPtr at, DraftPtr reference, std::string_view what) {
  Type content = unifier.fresh_type();
  if (unifier.unify(ref_type(content), reference->type)) return content;
  bool negation = what == "!" && resolve(reference->type)->is_scalar();
  report(DiagnosticKind::TypeMismatch, at,
         fmt::format("`{}` takes a reference, made by `ref(…)`, and this is {}{}", what,
                     unifier.describe(reference->type), negation ? "; negation is written `not`" : ""),
         origin_of(reference));
  return error_type();
}

DraftPtr Inference::read_reference(SyntaxPtr s, SyntaxPtr operand) {
  DraftPtr reference = infer(operand);
  Type content = content_of(operand, reference, s->is(SyntaxKind::Unary) ? "!" : "ref_read");
  DraftPtr read = drafts_.form(origin(s), content, RefReadExpr{}, {reference});
  return opened(read, resolve(content), "ref");
}

DraftPtr Inference::write_reference(SyntaxPtr s, SyntaxPtr operand, SyntaxPtr value) {
  DraftPtr reference = infer(operand);
  Type content = content_of(operand, reference, s->is(SyntaxKind::Binary) ? ":=" : "ref_write");
  DraftPtr written = infer(value, content);
  expect(value, content, written->type, "what is written", origin_of(reference), DiagnosticKind::TypeMismatch,
         written);
  return drafts_.form(origin(s), unit_type(), RefWriteExpr{}, {reference, written});
}

DraftPtr Inference::reference_call(SyntaxPtr s, Type expected) {
  std::string_view name = s->child(0)->text;
  size_t wanted = name == "ref_write" ? 2 : 1, given = s->children.size() - 1;
  if (given != wanted) {
    report(
        DiagnosticKind::WrongArgumentCount, s,
        fmt::format("`{}` takes {} argument{} and is given {}", name, wanted, wanted == 1 ? "" : "s", given));
    return error(s);
  }
  if (name == "ref") return new_reference(s, s->child(1), expected);
  if (name == "ref_read") return read_reference(s, s->child(1));
  return write_reference(s, s->child(1), s->child(2));
}

}  // namespace quern
