#pragma once
// Internal to ir/dim: where nodes are, one of each.

#include <memory_resource>
#include <string_view>
#include <unordered_set>

#include "ir/base/interned.h"
#include "ir/dim/dim.h"

namespace quern::dim_detail {

/// What makes two nodes one.
struct NodeKey {
  DimKind kind;
  int64_t value;
  std::span<const Dim> args;
};

/// Owns nodes and keeps one of each.
class NodeTable {
 public:
  explicit NodeTable(bool is_temporary = false) : is_temporary_(is_temporary) {}

  /// Null where there is none.
  Dim find(const NodeKey& key) const;
  Dim intern(const NodeKey& key);
  /// A node that no other equals, outside the table.
  Dim make(const NodeKey& key, std::string_view name, bool opened = false);
  /// Finds this node of another table too.
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

  const bool is_temporary_;
  size_t made_ = 0;
  size_t parts_ = 0;  ///< bytes of names and operands
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_set<Dim, KeyHash, KeyEqual> nodes_{&memory_};
};

/// Dims that a proof makes on its way to an answer that is none of them: they die with it. Equal dims are one
/// pointer among them and those that there are elsewhere.
class Temporaries {
 public:
  Temporaries();
  ~Temporaries();
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;

  /// While it lives, what this thread makes and what is not there yet is a temporary. One use may be inside
  /// of another, whose dims it sees.
  class Use {
   public:
    explicit Use(Temporaries& temporaries);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Temporaries* const around_;
  };

  Dim intern(const NodeKey& key);

 private:
  NodeTable table_{true};
  const Temporaries* around_ = nullptr;  ///< those of the use around this one
};

}  // namespace quern::dim_detail
