#pragma once
// Internal to ir/dim: hash-consing of nodes.

#include <memory_resource>
#include <string_view>
#include <unordered_set>

#include "ir/base/interned.h"
#include "ir/dim/dim.h"

namespace quern::dim_detail {

/// Nodes with equal keys are one.
struct NodeKey {
  DimKind kind;
  int64_t value;
  std::span<const Dim> args;
};

/// Owns nodes and keeps one of each.
class NodeTable {
 public:
  explicit NodeTable(bool in_arena = false) : in_arena_(in_arena) {}

  /// Null if there is none.
  Dim find(const NodeKey& key) const;
  Dim intern(const NodeKey& key);
  /// A node that equals no other, outside the table.
  Dim make(const NodeKey& key, std::string_view name, bool opened = false);
  /// Makes this node of another table findable too.
  void add(Dim node) { nodes_.insert(node); }

  Interned size() const;

 private:
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const auto& node) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const;
  };
  template <typename T>
  const T* copy(const T* from, size_t count);

  const bool in_arena_;
  size_t made_ = 0;
  size_t parts_ = 0;  ///< bytes of names and operands
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_set<Dim, KeyHash, KeyEqual> nodes_{&memory_};
};

}  // namespace quern::dim_detail
