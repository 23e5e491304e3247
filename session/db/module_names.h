#pragma once
// The declarations of a module by name, one cell per name: an edit that adds or removes a declaration changes
// only the cells of its names.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/db/keys.h"
#include "session/query/query.h"

namespace quern {

/// The names under which a declaration of this kind and name is found: a statement under those of its
/// variables, others under one or none.
std::vector<DeclaredName> declared_names(ModuleId module, PieceKind kind, std::string_view name);

class ModuleNames {
 public:
  /// Whether a declaration precedes another one in the module.
  using Before = std::function<bool(DeclarationId, DeclarationId)>;

  /// `constant`: the module that never changes.
  ModuleNames(Tables& tables, ModuleId constant);

  /// All declarations of the name, in order.
  const std::vector<DeclarationId>& get(const DeclaredName& name) { return cells_.get(name); }
  /// Like `get`, without recording a dependency: for constant modules, and outside queries.
  const std::vector<DeclarationId>& peek(const DeclaredName& name) const { return cells_.peek(name); }
  /// Records a dependency on the set of declarations of a table in a module.
  void depend_on_all(ModuleId module, NameTable table) { updates_.get({module, table, ""}); }

  using Declared = std::pair<DeclaredName, DeclarationId>;
  void update(ModuleId module, const std::vector<Declared>& removed, const std::vector<Declared>& added,
              const Before& before);

  /// In alphabetical order.
  template <class F>
  void for_each(ModuleId module, NameTable table, const F& visit) const {
    if (auto found = declared_.find({module, table}); found != declared_.end())
      for (const std::string& name : found->second) visit(name);
  }

 private:
  ModuleId constant_;
  Input<ByDeclaredName, std::vector<DeclarationId>> cells_;
  std::map<std::pair<ModuleId, NameTable>, std::set<std::string>> declared_;
  Input<ByDeclaredName, uint64_t> updates_;  ///< by table, under no name
  uint64_t count_ = 0;
};

}  // namespace quern
