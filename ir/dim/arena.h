#pragma once
// Dims that live as long as one computation.

#include "ir/dim/intern.h"

namespace quern {

/// Owns the dims that a computation makes and that its result has none of: those of a proof, of a lowering.
/// Equal dims are one pointer among them and those that there are elsewhere. None is in an interned type.
class DimArena {
 public:
  DimArena();
  ~DimArena();
  DimArena(const DimArena&) = delete;
  DimArena& operator=(const DimArena&) = delete;

  /// While it lives, what this thread makes and what is not there yet is the arena's, variables too. One use
  /// may be inside of another, whose dims it sees.
  class Use {
   public:
    explicit Use(DimArena& arena);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    DimArena* const around_;
  };

  /// While it lives, what this thread makes is the process's again: for what keeps its result.
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
  const DimArena* around_ = nullptr;  ///< that of the use around this one
};

}  // namespace quern
