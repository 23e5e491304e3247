#include "repl/declared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <unordered_map>

namespace quern {

namespace {

// Whether an error is an unknown name that a later declaration may declare. A bare name may be a constructor.
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

DeclaredAs Declared::name_of(DeclarationId declaration) const {
  const DeclarationInfo& about = session_.info(declaration);
  const bool is_operator = about.kind == PieceKind::Def && !about.name.starts_with("@");
  return {is_operator ? PieceKind::Op : about.kind, about.name};
}

void Declared::add(SourceId source) {
  std::vector<DeclaredAs>& names = names_.emplace_back();
  for (DeclarationId id : session_.declarations(source)) {
    if (session_.info(id).kind == PieceKind::Statement) continue;
    names.push_back(name_of(id));
    std::vector<DeclarationId>& declared = declarations_[names.back()];
    if (!declared.empty()) in_order_.erase(declared.back());
    declared.push_back(id);
    in_order_.emplace(id, names.back());
  }
}

void Declared::remove_last() {
  for (auto name = names_.back().rbegin(); name != names_.back().rend(); ++name) {
    const auto found = declarations_.find(*name);
    std::vector<DeclarationId>& declared = found->second;
    in_order_.erase(declared.back());
    declared.pop_back();
    if (declared.empty())
      declarations_.erase(found);
    else
      in_order_.emplace(declared.back(), *name);
  }
  names_.pop_back();
}

void Declared::clear() {
  declarations_.clear();
  names_.clear();
  in_order_.clear();
}

DeclarationId Declared::latest(const DeclaredAs& name) const {
  const auto found = declarations_.find(name);
  return found == declarations_.end() ? 0 : found->second.back();
}

DeclarationId Declared::replaced(DeclarationId declaration) const {
  const auto found = declarations_.find(name_of(declaration));
  if (found == declarations_.end()) return 0;
  const auto at = std::ranges::find(found->second, declaration);
  return at == found->second.begin() || at == found->second.end() ? 0 : *std::prev(at);
}

// A test runs at once and needs all that it reaches; a definition needs that only when it is called.
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

std::set<DeclarationId> Declared::dependents(const std::vector<DeclarationId>& declarations) const {
  std::unordered_map<DeclarationId, std::vector<DeclarationId>> users;
  for (const auto& [id, declared] : in_order_) {
    std::vector<DeclarationId> parts = session_.chunks(id);
    parts.push_back(id);
    for (DeclarationId part : parts)
      for (const Occurrence& name : session_.occurrences(part))
        users[name.target.declared.declaration].push_back(id);
  }
  std::set<DeclarationId> reached(declarations.begin(), declarations.end());
  std::vector<DeclarationId> next(reached.begin(), reached.end());
  while (!next.empty()) {
    const DeclarationId used = next.back();
    next.pop_back();
    for (DeclarationId user : users[used])
      if (reached.insert(user).second) next.push_back(user);
  }
  for (DeclarationId id : declarations) reached.erase(id);
  return reached;
}

std::string Declared::shown_name(DeclarationId declaration) const {
  const DeclarationInfo& about = session_.info(declaration);
  return about.kind == PieceKind::Test ? fmt::format("test \"{}\"", about.name)
                                       : fmt::format("`{}`", about.name);
}

}  // namespace quern
