#pragma once
// What the names of a module stand for, one cell per name: an edit that adds or removes a declaration changes
// the cells of its name and no other.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/query.h"
#include "session/session.h"

namespace quern {

enum class NameTable : uint8_t { Globals, Operators, Types, Statics, Infix, Variables };

struct DeclaredName {
  ModuleId module;
  NameTable table;
  std::string name;
  friend bool operator==(const DeclaredName&, const DeclaredName&) = default;
};
struct DeclaredNameHash {
  size_t operator()(const DeclaredName& n) const {
    return (std::hash<std::string>()(n.name) * 31 + n.module) * 31 + static_cast<size_t>(n.table);
  }
};

/// Under which name a declaration of this kind and name is found; nothing for one that has none.
std::optional<DeclaredName> declared_name(ModuleId module, PieceKind kind, std::string_view name);

class ModuleNames {
 public:
  /// Whether a declaration stands before another one in the module.
  using Before = std::function<bool(DeclarationId, DeclarationId)>;

  /// `constant`: the module that never changes.
  ModuleNames(QueryEngine& engine, ModuleId constant)
      : constant_(constant), cells_(engine), updates_(engine) {}

  /// All declarations of the name, in order.
  const std::vector<DeclarationId>& get(const DeclaredName& name) { return cells_.get(name); }
  /// As `get`, without being a dependency: for what never changes, and outside of queries.
  const std::vector<DeclarationId>& peek(const DeclaredName& name) const { return cells_.peek(name); }
  /// To ask for this is to depend on which declarations there are in a module.
  void depend_on_all(ModuleId module) { updates_.get(module); }

  using Declared = std::pair<DeclaredName, DeclarationId>;
  /// Declarations have come and gone: these, and others without a name.
  void update(ModuleId module, const std::vector<Declared>& removed, const std::vector<Declared>& added,
              const Before& before);

  template <class F>
  void for_each(ModuleId module, NameTable table, const F& visit) const {
    cells_.for_each([&](const DeclaredName& name, const std::vector<DeclarationId>& ids) {
      if (name.module == module && name.table == table && !ids.empty()) visit(name.name);
    });
  }

 private:
  ModuleId constant_;
  Input<DeclaredName, std::vector<DeclarationId>, DeclaredNameHash> cells_;
  Input<ModuleId, uint64_t> updates_;
  uint64_t count_ = 0;
};

}  // namespace quern
