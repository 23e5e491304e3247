#include "frontend/infer/values/matches.h"

#include <fmt/format.h>

#include "frontend/infer/values/coverage.h"

namespace quern {

DraftPtr Matches::match(SyntaxPtr s, Type wanted) {
  DraftPtr scrutinee = infer(s->child(0));
  std::vector<MatchArm> arms;
  std::vector<DraftPtr> bodies;
  std::vector<uint32_t> regions;
  std::vector<SyntaxPtr> at;
  bool sound = true;
  for (SyntaxPtr arm : s->children.subspan(1)) {
    size_t depth = names_.depth();
    PatternWalk walk{depth, true};
    PatternPtr pattern = patterns_.pattern(arm->child(0), scrutinee->type, walk);
    sound = sound && walk.sound;
    uint32_t outer = checks_.enter_region();
    regions.push_back(checks_.region());
    std::vector<DraftBinding> opened = open_locals(depth, arm->child(0));
    DraftPtr body = infer(arm->child(1), wanted);
    if (!opened.empty()) body = drafts_.block(body->origin, opened, body);
    bodies.push_back(body);
    checks_.leave_region(outer);
    names_.leave_to(depth);
    at.push_back(arm->child(1));
    arms.push_back({pattern, nullptr});
  }
  bool partial = s->text == "match?";
  if (sound) check_coverage(s, arms, partial, resolve(scrutinee->type));
  std::vector<DraftPtr> parts{scrutinee};
  parts.insert(parts.end(), bodies.begin(), bodies.end());
  DraftPtr made = drafts_.form(origin(s), unifier_.fresh_type(),
                               MatchExpr{.arms = drafts_.copy(arms), .partial = partial}, parts);
  return arms.empty() ? made : assignments_.joined(made, bodies, regions, at);
}

// The variables of a pattern with each `?` opened, as a parameter's are.
std::vector<DraftBinding> Matches::open_locals(size_t first, SyntaxPtr at) {
  std::vector<DraftBinding> bindings;
  for (size_t i = first; i < names_.depth(); ++i) {
    const Variable* bound = names_.locals()[i].variable;
    DraftPtr read = drafts_.read(origin(at), bound, bound->type);
    DraftPtr exact = checks_.opened(read, resolve(bound->type), bound->name);
    if (exact == read) continue;
    const Variable* variable = drafts_.variable(bound->name, exact->type);
    names_.rebind(i, variable);
    bindings.push_back({variable, exact});
  }
  return bindings;
}

void Matches::check_coverage(SyntaxPtr s, const std::vector<MatchArm>& arms, bool partial, Type type) {
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
    diagnostics_.back().notes.push_back(
        {Place{{data->declaration, 1}, {}}, fmt::format("`{}` is declared here", data->name)});
}

/// Reports on a match as a whole at its first word, since its text may be long.
void Matches::report_at_word(DiagnosticKind kind, SyntaxPtr match, std::string message) {
  Place place{origin(match), {}, Part::Head, static_cast<uint32_t>(match->text.size())};
  diagnostics_.push_back({kind, place, std::move(message), {}, {}});
}

}  // namespace quern
