#include "frontend/syntax.h"

#include <fmt/format.h>

namespace quern {

namespace {
constexpr std::string_view kNames[] = {
#define QUERN_SYNTAX(kind, children) #kind,
#include "frontend/syntax.def"
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

bool equal(SyntaxPtr a, SyntaxPtr b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->text != b->text || a->children.size() != b->children.size())
    return false;
  for (size_t i = 0; i < a->children.size(); ++i)
    if (!equal(a->children[i], b->children[i])) return false;
  return true;
}

std::string dump(SyntaxPtr node) {
  std::string out;
  dump_into(node, 0, out);
  return out;
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
