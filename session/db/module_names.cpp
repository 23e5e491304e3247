#include "session/db/module_names.h"

#include <algorithm>

namespace quern {

std::vector<DeclaredName> declared_names(ModuleId module, PieceKind kind, std::string_view name) {
  if (name.empty()) return {};
  auto entry = [&](NameTable table, std::string_view as) {
    return std::vector{DeclaredName{module, table, std::string(as)}};
  };
  switch (kind) {
    case PieceKind::Def:
      return name.starts_with("@") ? entry(NameTable::Globals, name.substr(1))
                                   : entry(NameTable::Operators, name);
    case PieceKind::Op: return entry(NameTable::Operators, name);
    case PieceKind::Static: return entry(NameTable::Statics, name.substr(name.starts_with("@") ? 1 : 0));
    case PieceKind::Infix: return entry(NameTable::Infix, name);
    case PieceKind::Type: return entry(NameTable::Types, name);
    case PieceKind::Statement: {
      std::vector<DeclaredName> names;
      for_each_name(name, [&](std::string_view one) {
        names.push_back({module, NameTable::Variables, std::string(one)});
      });
      return names;
    }
    case PieceKind::Import:
    case PieceKind::Test: return {};
  }
  return {};
}

void ModuleNames::update(ModuleId module, const std::vector<Declared>& removed,
                         const std::vector<Declared>& added, const Before& before) {
  if (removed.empty() && added.empty()) return;
  std::unordered_map<DeclaredName, std::vector<DeclarationId>, DeclaredNameHash> changed;
  auto list_of = [&](const DeclaredName& name) -> std::vector<DeclarationId>& {
    return changed.try_emplace(name, cells_.peek(name)).first->second;
  };
  std::set<NameTable> tables;
  for (const auto& [name, id] : removed) std::erase(list_of(name), id);
  for (const auto& [name, id] : added) list_of(name).push_back(id);
  for (auto& [name, ids] : changed) {
    // What is appended at a prompt comes last already.
    if (!std::is_sorted(ids.begin(), ids.end(), before)) std::sort(ids.begin(), ids.end(), before);
    tables.insert(name.table);
    std::set<std::string>& declared = declared_[{module, name.table}];
    if (ids.empty()) {
      declared.erase(name.name);
      cells_.drop(name);
    } else {
      declared.insert(name.name);
      cells_.set(name, std::move(ids));
    }
  }
  ++count_;
  for (const NameTable table : tables) {
    if (module == constant_)
      updates_.fix({module, table, ""}, count_);
    else
      updates_.set({module, table, ""}, count_);
  }
}

}  // namespace quern
