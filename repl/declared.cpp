#include "repl/declared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace quern {

namespace {

// Whether a mistake is a name that a later declaration may bring. Of bare names that is a constructor's.
bool may_come(const LocatedDiagnostic& d) {
  switch (d.kind) {
    case DiagnosticKind::UnknownFunction:
    case DiagnosticKind::UnknownOperator:
    case DiagnosticKind::UnknownType:
    case DiagnosticKind::UnknownStatic: return true;
    case DiagnosticKind::UnknownName:
      return d.range.begin < d.text.size() && std::isupper(static_cast<unsigned char>(d.text[d.range.begin]));
    default: return false;
  }
}

}  // namespace

std::map<DeclaredAs, DeclarationId> Declared::latest() const {
  std::map<DeclaredAs, DeclarationId> found;
  for (SourceId source : sources_) {
    for (DeclarationId id : session_.declarations(source)) {
      const DeclarationInfo& about = session_.info(id);
      if (about.kind == PieceKind::Statement) continue;
      bool is_operator = about.kind == PieceKind::Def && !about.name.starts_with("@");
      found[{is_operator ? PieceKind::Op : about.kind, about.name}] = id;
    }
  }
  return found;
}

std::map<DeclarationId, DeclaredAs> Declared::in_order() const {
  std::map<DeclarationId, DeclaredAs> by_id;
  for (auto& [name, id] : latest()) by_id.emplace(id, name);
  return by_id;
}

// A test needs what it reaches to run, where others need it to be called.
Unsound Declared::unsound(DeclarationId declaration) const {
  Unsound found{declaration, session_.check_declaration(declaration), false};
  std::erase_if(found.errors, [](const auto& d) { return severity_of(d.kind) != Severity::Error; });
  const PieceKind kind = session_.info(declaration).kind;
  if (kind == PieceKind::Test)
    for (DeclarationId reached : session_.reached_definitions(declaration))
      if (found.errors.empty()) found.errors = unsound(reached).errors;
  found.waits = !found.errors.empty() && kind != PieceKind::Statement && kind != PieceKind::Import &&
                std::ranges::all_of(found.errors, may_come);
  return found;
}

std::vector<DeclarationId> Declared::dependents(const std::vector<DeclarationId>& declarations) const {
  std::map<DeclarationId, std::set<DeclarationId>> used;  // by who uses it
  for (const auto& [id, declared] : in_order()) {
    std::vector<DeclarationId> parts = session_.chunks(id);
    parts.push_back(id);
    for (DeclarationId part : parts)
      for (const Occurrence& name : session_.occurrences(part))
        used[id].insert(name.target.declared.declaration);
  }
  std::set<DeclarationId> reached(declarations.begin(), declarations.end());
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [id, names] : used)
      if (!reached.contains(id) && std::ranges::any_of(names, [&](auto n) { return reached.contains(n); }))
        grows = reached.insert(id).second;
  }
  for (DeclarationId id : declarations) reached.erase(id);
  return {reached.begin(), reached.end()};
}

std::string Declared::shown_name(DeclarationId declaration) const {
  const DeclarationInfo& about = session_.info(declaration);
  return about.kind == PieceKind::Test ? fmt::format("test \"{}\"", about.name)
                                       : fmt::format("`{}`", about.name);
}

}  // namespace quern
