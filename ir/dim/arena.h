#pragma once
// Dims that live as long as one computation.

#include "ir/dim/intern.h"

namespace quern {

/// Owns the dims that a computation makes but its result does not contain: those of a proof, of a lowering.
/// Equal dims are one pointer, across the arena and those that exist elsewhere. No interned type contains
/// one.
class DimArena {
 public:
  DimArena();
  ~DimArena();
  DimArena(const DimArena&) = delete;
  DimArena& operator=(const DimArena&) = delete;

  /// During its lifetime, new dims that this thread makes belong to the arena, variables included. Uses nest;
  /// the inner one sees the outer one's dims.
  class Use {
   public:
    explicit Use(DimArena& arena);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    DimArena* const around_;
  };

  /// During its lifetime, dims that this thread makes belong to the process again: for computations whose
  /// result is kept.
  class Outside {
   public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    DimArena* const around_;
  };

  Dim intern(const dim_detail::NodeKey& key);
  Dim make_var(std::string_view name, int64_t id, bool opened);

 private:
  dim_detail::NodeTable table_{true};
  const DimArena* around_ = nullptr;  ///< of the enclosing use
};

}  // namespace quern
