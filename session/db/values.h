#pragma once
// Values of inputs and queries that only the session uses.

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

/// Represents an instance of an editable operator.
struct LateInstance final : OpInstance {
  LateInstance(OpInstance head, InstanceKey of) : OpInstance(std::move(head)), key(std::move(of)) {
    late = true;
  }
  InstanceKey key;
};
/// The key of a late instance.
inline const InstanceKey& key_of_late(const OpInstance& instance) {
  return static_cast<const LateInstance&>(instance).key;
}

/// An `import` of a module.
struct Import {
  DeclarationId declaration;
  std::string alias;               ///< "" without `as`
  ModuleId module = 0;             ///< 0: it cannot be resolved
  std::vector<std::string> tried;  ///< the paths that were tried
  std::string problem;             ///< why an existing file cannot be read
  std::vector<ModuleId> cycle;     ///< the import chain from the module back to the importing one
  bool brings_names() const { return module != 0 && cycle.empty(); }
  /// The name in the imported module of a name in the importing one, if it can come from there.
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
