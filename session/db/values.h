#pragma once
// Values of a session's inputs and queries that are of the session alone.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/text/diagnostics.h"
#include "ir/expr/expr.h"
#include "session/db/keys.h"

namespace quern {

struct InstanceResult {
  std::shared_ptr<const OpInstance> instance;
  Diagnostics diagnostics;
};

/// What stands for an instance of an operator that may be edited.
struct LateInstance final : OpInstance {
  LateInstance(OpInstance head, InstanceKey of) : OpInstance(std::move(head)), key(std::move(of)) {
    late = true;
  }
  InstanceKey key;
};
/// Of an instance that is late.
inline const InstanceKey& key_of_late(const OpInstance& instance) {
  return static_cast<const LateInstance&>(instance).key;
}

/// An `import` of a module.
struct Import {
  DeclarationId declaration;
  std::string alias;               ///< "" without `as`
  ModuleId module = 0;             ///< 0: it cannot be followed
  std::vector<std::string> tried;  ///< the paths where the file was looked for
  std::string problem;             ///< of a file that is there and cannot be read
  std::vector<ModuleId> cycle;     ///< the way back from the module to where the import stands
  bool brings_names() const { return module != 0 && cycle.empty(); }
  /// What a name of the importing module is in the imported one, if it can come from there.
  std::optional<std::string_view> declared_name(std::string_view name) const {
    if (alias.empty()) return name;
    if (!name.starts_with(alias) || name.size() < alias.size() + 2 || name[alias.size()] != '.')
      return std::nullopt;
    return name.substr(alias.size() + 1);
  }
  friend bool operator==(const Import&, const Import&) = default;
};

/// The group of mutually recursive definitions that a definition is inferred with: its members, by name.
using Group = std::vector<std::string>;

}  // namespace quern
