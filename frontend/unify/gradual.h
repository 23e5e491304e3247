#pragma once
// Existential dims, which stand for a `?`, during inference of a definition: what is known about them at
// which point.
//
// A `?` of a value's type is opened to a fresh rigid dim. If such a dim must agree with another, the equality
// is checked at run time and holds from there on. Points measure this: evaluation passes through the points
// of a region in order, and a region (an arm of a condition, a function's body) begins at a point of the
// enclosing one. A fact holds at the later points of its region and of nested regions.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/type/type.h"

namespace quern {

struct ProgramPoint {
  uint32_t region = 0;
  uint32_t sequence = 0;
};

class DimFacts {
 public:
  /// The next point of the current region.
  ProgramPoint step() { return {region_, ++sequence_}; }
  uint32_t region() const { return region_; }
  /// Enters a region inside the current one; returns the outer one, for `leave`.
  uint32_t enter();
  void leave(uint32_t outer) { region_ = outer; }

  /// A new dim for a `?`, bound in a region.
  Dim open(std::string_view name, uint32_t region);
  /// Whether the dim is bound inside the region.
  bool is_local(Dim var, uint32_t region) const;

  /// The representative of all dims equal to this one at this point.
  Dim normalise(Dim dim, ProgramPoint at) const;
  Type normalise(Type type, ProgramPoint at) const;

  /// Decides a relation at a point: true or false if it holds or fails for all values of the dims.
  std::optional<bool> decide(DimRelation relation, Dim a, Dim b, ProgramPoint at) const;
  /// Assumes the relation from `at` on (it is checked there).
  void assume(DimRelation relation, Dim a, Dim b, ProgramPoint at);

 private:
  /// A variable equals `image`; for facts without a variable, `image` >= 0.
  struct Fact {
    ProgramPoint at;
    Dim image;
  };
  bool holds_at(ProgramPoint fact, ProgramPoint at) const;
  bool is_inside(uint32_t region, uint32_t outer) const;
  Dim normalise(Dim dim, ProgramPoint at, int depth) const;
  void substitute_one(Dim a, Dim b, ProgramPoint at);

  std::vector<uint32_t> parents_ = {0};
  uint32_t region_ = 0;
  uint32_t sequence_ = 0;
  std::unordered_map<Dim, uint32_t> born_;            ///< the regions of opened dims
  std::unordered_map<Dim, std::vector<Fact>> equal_;  ///< by variable
  std::vector<Fact> nonnegative_;
};

/// Calls `f` with each dim of the value itself: of tensors, alone and in tuples.
void for_each_value_dim(Type type, const std::function<void(Dim)>& f);
/// The type with the dims of the value itself replaced.
Type map_value_dims(Type type, const std::function<Dim(Dim, size_t axis)>& f);
/// The type with `?` for each opened dim except those to keep: a definition's type may mention only its own
/// dims.
Type without_opened(Type type, std::span<const Dim> keep);
/// The join of the types of two arms of a condition: their type, with `?` for each dim in which they
/// disagree. Null if they disagree in more.
Type join_types(Type a, Type b, const std::function<bool(Type, Type)>& unify);

}  // namespace quern
