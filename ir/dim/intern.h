#pragma once
// Internal to ir/dim: hash-consing of nodes.

#include <memory_resource>
#include <string_view>
#include <vector>

#include "ir/base/interned.h"
#include "ir/dim/dim.h"

namespace quern::dim_detail {

/// Nodes with equal keys are one.
struct NodeKey {
  DimKind kind;
  int64_t value;
  std::span<const Dim> args;

  size_t hash() const;
};

/// Owns nodes and keeps one of each.
class NodeTable {
 public:
  explicit NodeTable(bool in_arena = false) : in_arena_(in_arena) {}

  /// Null if there is none; `hash` is the key's.
  Dim find(const NodeKey& key, size_t hash) const;
  /// A node that equals no other, outside the table.
  Dim make(const NodeKey& key, std::string_view name, bool opened = false);
  /// Makes a node findable, of this table or another, that none equals yet.
  void add(Dim node, size_t hash);

  Interned size() const;

 private:
  struct Slot {
    size_t hash;
    Dim node;  ///< null where it is empty
  };
  void insert(Slot slot);

  template <typename T>
  const T* copy(const T* from, size_t count);

  const bool in_arena_;
  size_t made_ = 0;
  size_t parts_ = 0;  ///< bytes of names and operands
  std::pmr::monotonic_buffer_resource memory_;
  std::vector<Slot> slots_;  ///< open addressing; their number is a power of two, and at most half are full
  size_t full_ = 0;
};

}  // namespace quern::dim_detail
