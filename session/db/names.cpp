// What names refer to, as a module sees them.

#include <algorithm>
#include <functional>
#include <set>

#include "session/db/module_scope.h"

namespace quern {

DeclarationId Database::find(ModuleId module, NameTable table, std::string_view name) {
  // Within one source the first declaration of a name counts (the others are reported); a later source
  // overrides it.
  auto chosen = [&](const std::vector<DeclarationId>& ids) -> DeclarationId {
    for (DeclarationId id : ids)
      if (declarations[id].source == declarations[ids.back()].source) return id;
    return 0;
  };
  DeclaredName key{module, table, std::string(name)};
  if (module != kLibrary)
    if (DeclarationId own = chosen(names.get(key))) return own;
  auto theirs = [&](ModuleId other, std::string_view declared) {
    return chosen(names.get({other, table, std::string(declared)}));
  };
  if (DeclarationId imported = find_imported(module, name, theirs)) return imported;
  key.module = kLibrary;
  return chosen(names.peek(key));
}

DeclarationId Database::find_constructor(ModuleId module, std::string_view name) {
  if (module != kLibrary)
    if (DeclarationId own = constructor({module, std::string(name)})) return own;
  auto theirs = [&](ModuleId other, std::string_view declared) {
    return constructor({other, std::string(declared)});
  };
  if (DeclarationId imported = find_imported(module, name, theirs)) return imported;
  return constructor({kLibrary, std::string(name)});
}

std::map<std::string, DeclarationId> Database::find_constructors(ModuleId module) {
  names.depend_on_all(module, NameTable::Types);
  std::map<std::string, DeclarationId> found;
  for (DeclarationId id : all_of(module, PieceKind::Type))
    for (const std::string& name : constructor_names(text_of_declaration(id))) {
      auto [it, added] = found.try_emplace(name, id);
      if (!added && declarations[it->second].source != declarations[id].source) it->second = id;
    }
  return found;
}

DeclarationId Database::owner_of_constructor(const NameKey& key) {
  const auto& own = constructors(key.module);
  auto found = own.find(key.name);
  return found == own.end() ? 0 : found->second;
}

DeclarationId Database::variable_before(DeclarationId statement, std::string_view name) {
  // Only declaring or removing this name changes which of them precedes the statement.
  const auto& ids = names.get({declarations[statement].module, NameTable::Variables, std::string(name)});
  auto after = std::partition_point(ids.begin(), ids.end(),
                                    [&](DeclarationId id) { return is_before(id, statement); });
  return after == ids.begin() ? 0 : *std::prev(after);
}

NameKey Database::key_of(DeclarationId id) const {
  const DeclarationInfo& about = declarations[id];
  return {about.module, about.name.starts_with("@") ? about.name.substr(1) : about.name};
}

ModuleScope& Database::scope_of(ModuleId module) {
  auto& scope = scopes_[module];
  if (!scope) scope = std::make_unique<ModuleScope>(*this, module);
  return *scope;
}

bool Database::is_in_broken_import(ModuleId module, std::string_view name) {
  if (module == kLibrary) return false;
  for (const Import& import : imports.get(module)) {
    if (!import.declared_name(name)) continue;
    if (!import.brings_names()) return true;
    // A missing name may be declared by text that did not parse there.
    pieces.get(import.module);
    for (SourceId source : modules[import.module])
      for (DeclarationId id : layouts[source]->ids)
        if (!import.alias.empty() && !parses(id)) return true;
  }
  return false;
}

std::optional<DataHeader> Database::header_of_data(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Types, key.name);
  if (!id || tree(id).syntax->is(SyntaxKind::TypeAlias)) return std::nullopt;
  return make_data_header(tree(id), scope_of(key.module));
}

std::pair<std::optional<DataDefinition>, Diagnostics> Database::define_data(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Types, key.name);
  if (!id || tree(id).syntax->is(SyntaxKind::TypeAlias)) return {};
  Diagnostics diagnostics;
  ModuleScope scope(*this, key.module);
  DataDefinition d = resolve_data(tree(id), *data_header(key), scope, diagnostics);
  return {d, diagnostics};
}

std::pair<std::optional<TypeAlias>, Diagnostics> Database::define_alias(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Types, key.name);
  if (!id) return {};
  Diagnostics diagnostics;
  ModuleScope scope = ModuleScope::for_alias(*this, id);
  TypeAlias alias = resolve_alias(tree(id), scope, diagnostics);
  return {std::move(alias), std::move(diagnostics)};
}

// Based on their texts: which aliases of a cycle have no type must not depend on which is requested first.
bool Database::alias_reaches(DeclarationId from, DeclarationId to) {
  std::vector<DeclarationId> reached{from};
  for (size_t i = 0; i < reached.size(); ++i) {
    const DeclarationId at = reached[i];
    if (at == to) return true;
    const Declaration& declared = tree(at);
    if (!declared.syntax->is(SyntaxKind::TypeAlias)) continue;
    std::set<std::string_view> params;
    if (const SyntaxPtr list = declared.syntax->child(0))
      for (const SyntaxPtr param : list->children) params.insert(param->text);
    const std::function<void(SyntaxPtr)> visit = [&](SyntaxPtr s) {
      if (!s) return;
      if (s->is(SyntaxKind::NamedType) && !params.contains(s->text))
        if (const DeclarationId named = find(declarations[at].module, NameTable::Types, s->text);
            named && std::ranges::find(reached, named) == reached.end())
          reached.push_back(named);
      std::ranges::for_each(s->children, visit);
    };
    visit(declared.syntax->child(1));
  }
  return false;
}

const DataDefinition* Database::data_of(ModuleId module, Type type) {
  std::vector<ModuleId> reached{module, kLibrary};
  for (size_t i = 0; i < reached.size(); ++i) {
    ModuleId at = reached[i];
    if (DeclarationId id = find(at, NameTable::Types, type->name))
      if (const auto& found = data(key_of(id)).first; found && found->header.type->id == type->id)
        return &*found;
    if (at == kLibrary) continue;
    for (const Import& import : imports.get(at))
      if (import.brings_names() && std::find(reached.begin(), reached.end(), import.module) == reached.end())
        reached.push_back(import.module);
  }
  // A copy of a polymorphic definition gets its user's types, which its own module need not see. Equal ids are
  // equal texts.
  for (ModuleId at = 0; at < modules.size(); ++at) {
    if (std::ranges::find(reached, at) != reached.end()) continue;
    if (DeclarationId id = find(at, NameTable::Types, type->name))
      if (const auto& found = data(key_of(id)).first; found && found->header.type->id == type->id)
        return &*found;
  }
  // A redefined type: use the present one.
  DeclarationId id = find(module, NameTable::Types, type->name);
  if (!id) return nullptr;
  const auto& now = data(key_of(id)).first;
  return now ? &*now : nullptr;
}

}  // namespace quern
