#include "frontend/syntax/syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace quern {

namespace {
constexpr std::string_view kNames[] = {
#define QUERN_SYNTAX(kind, children) #kind,
#include "frontend/syntax/syntax.def"
#undef QUERN_SYNTAX
};

void dump_into(SyntaxPtr node, int depth, std::string& out) {
  out.append(static_cast<size_t>(depth) * 2, ' ');
  if (!node) {
    out += "-\n";
    return;
  }
  out += kNames[static_cast<size_t>(node->kind)];
  if (!node->text.empty()) out += fmt::format(" `{}`", node->text);
  out += '\n';
  for (SyntaxPtr child : node->children) dump_into(child, depth + 1, out);
}
}  // namespace

bool is_type(SyntaxPtr s) {
  switch (s->kind) {
    case SyntaxKind::HoleType:
    case SyntaxKind::TensorType:
    case SyntaxKind::TupleType:
    case SyntaxKind::FamilyType:
    case SyntaxKind::CasesType:
    case SyntaxKind::FunctionType:
    case SyntaxKind::GeneralType:
    case SyntaxKind::NamedType: return true;
    default: return false;
  }
}

bool equal(SyntaxPtr a, SyntaxPtr b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->text != b->text || a->children.size() != b->children.size())
    return false;
  for (size_t i = 0; i < a->children.size(); ++i)
    if (!equal(a->children[i], b->children[i])) return false;
  return true;
}

static void add_binders(SyntaxPtr pattern, std::vector<SyntaxPtr>& binders) {
  if (!pattern) return;
  if (pattern->is(SyntaxKind::VariablePattern)) return binders.push_back(pattern);
  for (SyntaxPtr part : pattern->children) add_binders(part, binders);
}

std::vector<SyntaxPtr> binders_of(SyntaxPtr s) {
  std::vector<SyntaxPtr> binders;
  if (s->is(SyntaxKind::LetPattern)) add_binders(s->child(0), binders);
  bool one = s->is(SyntaxKind::Let) || s->is(SyntaxKind::GraphLet) || s->is(SyntaxKind::FreeVar);
  if (one && s->text != "_") binders.push_back(s);
  return binders;
}

static SyntaxPtr without_schedules(SyntaxPtr clauses, Arena& arena) {
  if (!clauses || !clauses->is(SyntaxKind::Clauses)) return clauses;
  std::vector<SyntaxPtr> kept;
  std::ranges::copy_if(clauses->children, std::back_inserter(kept),
                       [](SyntaxPtr clause) { return !clause->is(SyntaxKind::Schedule); });
  if (kept.size() == clauses->children.size()) return clauses;
  return arena.make<Syntax>(clauses->kind, clauses->id, clauses->text, arena.copy(kept));
}

SyntaxPtr head_of(SyntaxPtr root, Arena& arena) {
  const bool has_bodies =
      root->is(SyntaxKind::Def) || root->is(SyntaxKind::Op) || root->is(SyntaxKind::ExternOp);
  if (!has_bodies || root->children.size() < 5) return root;
  const SyntaxPtr bodies = root->children[4];
  const std::array children{root->children[0], root->children[1], root->children[2],
                            without_schedules(root->children[3], arena),
                            SyntaxPtr(arena.make<Syntax>(SyntaxKind::Bodies, bodies ? bodies->id : 0))};
  return arena.make<Syntax>(root->kind, root->id, root->text,
                            arena.copy(std::span<const SyntaxPtr>(children)));
}

SyntaxPtr find_node(SyntaxPtr s, uint32_t id) {
  if (!s || s->id == id) return s;
  // Ids are in preorder: a node is in the last child whose id is not greater.
  SyntaxPtr within = nullptr;
  for (SyntaxPtr c : s->children)
    if (c && c->id <= id && (!within || c->id > within->id)) within = c;
  return find_node(within, id);
}

std::string dump(SyntaxPtr node) {
  std::string out;
  dump_into(node, 0, out);
  return out;
}

void move(SyntaxProblem& problem, int64_t by) {
  // Positions before the text's start are clamped to it.
  for_each_range(problem, [&](Range& range) {
    range.begin = static_cast<uint32_t>(std::max<int64_t>(0, range.begin + by));
    range.end = static_cast<uint32_t>(std::max<int64_t>(0, range.end + by));
  });
}

void for_each_range(SyntaxProblem& problem, const std::function<void(Range&)>& visit) {
  visit(problem.range);
  for (Note& note : problem.notes)
    if (note.place && note.place->range) visit(*note.place->range);
  for (Fix& fix : problem.fixes)
    for (Edit& edit : fix.edits)
      if (edit.place.range) visit(*edit.place.range);
}

ParseOutcome parse_chunk(std::string_view text, bool slash_names) {
  // A block is an expression and thus a statement, so added braces turn the chunk into one.
  ParseOutcome outcome = parse_declaration(fmt::format("{{{}}}", text), slash_names);
  auto size = static_cast<uint32_t>(text.size());
  for (Range& span : outcome.spans) {
    span.begin = std::min(span.begin - std::min(span.begin, 1u), size);
    span.end = std::min(span.end - std::min(span.end, 1u), size);
  }
  for (SyntaxProblem& problem : outcome.problems) {
    // The added closing brace may meet an open bracket of the text.
    bool own = problem.range.begin > size && problem.kind == DiagnosticKind::MismatchedBracket;
    if (own && !problem.notes.empty() && problem.notes[0].place) {
      Range open = *problem.notes[0].place->range;
      problem = {DiagnosticKind::OpenBracket,
                 open,
                 fmt::format("this `{}` is never closed", text.substr(open.begin - 1, 1)),
                 {},
                 {}};
    }
    move(problem, -1);
  }
  return outcome;
}

Diagnostic to_diagnostic(const SyntaxProblem& problem, uint32_t declaration) {
  Diagnostic d{
      problem.kind, {{declaration, 0}, problem.range}, problem.message, problem.notes, problem.fixes};
  for (Note& note : d.notes)
    if (note.place) note.place->origin.declaration = declaration;
  for (Fix& fix : d.fixes)
    for (Edit& edit : fix.edits) edit.place.origin.declaration = declaration;
  return d;
}

}  // namespace quern
