#pragma once
// The key spaces of a session's tables.

#include <functional>
#include <string>

#include "frontend/signature/signature.h"
#include "session/db/ids.h"
#include "session/query/table.h"

namespace quern {

/// A name as a module sees it, or in the module that declares it.
struct NameKey {
  ModuleId module;
  std::string name;
  friend bool operator==(const NameKey&, const NameKey&) = default;
};
struct NameKeyHash {
  size_t operator()(const NameKey& k) const { return std::hash<std::string>()(k.name) * 31 + k.module; }
};

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

/// An instance is identified by its declaration and its key; the request says how to make it.
struct InstanceKey {
  ModuleId module;
  InstanceRequest request;
  friend bool operator==(const InstanceKey& a, const InstanceKey& b) {
    return a.module == b.module && a.request.declaration == b.request.declaration &&
           a.request.key == b.request.key;
  }
};
struct InstanceKeyHash {
  size_t operator()(const InstanceKey& k) const {
    return std::hash<std::string>()(k.request.key) * 31 + k.module;
  }
};

/// A name in a definition or one of its chunks.
struct BodyName {
  DeclarationId declaration;
  std::string name;
  friend bool operator==(const BodyName&, const BodyName&) = default;
};
struct BodyNameHash {
  size_t operator()(const BodyName& k) const { return std::hash<std::string>()(k.name) * 31 + k.declaration; }
};

struct ByDeclaredName : KeySpace<DeclaredName, DeclaredNameHash> {};
struct BySource : KeySpace<SourceId> {};
struct ByModule : KeySpace<ModuleId> {};
struct ByDeclaration : KeySpace<DeclarationId> {};
struct ByDefinition : KeySpace<NameKey, NameKeyHash> {};  ///< `def @name`
struct ByType : KeySpace<NameKey, NameKeyHash> {};
struct ByConstructor : KeySpace<NameKey, NameKeyHash> {};
struct ByCopy : KeySpace<NameKey, NameKeyHash> {};  ///< a copy of a definition: `f{…}`
struct ByInstance : KeySpace<InstanceKey, InstanceKeyHash> {};
struct ByBodyName : KeySpace<BodyName, BodyNameHash> {};
struct ByPath : KeySpace<std::string> {};

}  // namespace quern
