#pragma once
// Dims that stand for a `?`, while a definition is inferred: what is known of them where.
//
// A `?` of a value's type is opened to a rigid dim of its own. Where such a dim has to agree with another,
// the equality is checked at run time and holds from there on, which is measured by points: evaluation
// goes through the points of a region in order, and a region (an arm of a condition, a function's body)
// begins at a point of the one around it. A fact holds at the later points of its region and of the regions
// inside.

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
  /// The next point of the region that the walk is in.
  ProgramPoint step() { return {region_, ++sequence_}; }
  uint32_t region() const { return region_; }
  /// A region inside the one that the walk is in; gives the outer one, for `leave`.
  uint32_t enter();
  void leave(uint32_t outer) { region_ = outer; }

  /// A new dim for a `?`, which is bound in a region.
  Dim open(std::string_view name, uint32_t region);
  /// Whether the dim is bound inside the region.
  bool is_local(Dim var, uint32_t region) const;

  /// The dim that stands for all that are equal to it at this point.
  Dim normalise(Dim dim, ProgramPoint at) const;
  Type normalise(Type type, ProgramPoint at) const;

  /// Decides a relation at a point: true and false where it holds and fails for all values of the dims.
  std::optional<bool> decide(DimRelation relation, Dim a, Dim b, ProgramPoint at) const;
  /// From `at` on the relation holds (it is checked there).
  void assume(DimRelation relation, Dim a, Dim b, ProgramPoint at);

 private:
  /// A variable that is equal to `image`; without one, `image` >= 0.
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

/// Calls `f` with each dim of a type that is part of the value itself: of tensors, alone and in tuples.
void for_each_value_dim(Type type, const std::function<void(Dim)>& f);
/// The type with the dims of a value itself replaced.
Type map_value_dims(Type type, const std::function<Dim(Dim, size_t axis)>& f);
/// The type with `?` for each opened dim but those to keep: a definition's type is over its own dims.
Type without_opened(Type type, std::span<const Dim> keep);
/// What two arms of a condition have in common: their type, with `?` for each dim in which they disagree.
/// Null where they disagree in more.
Type join_types(Type a, Type b, const std::function<bool(Type, Type)>& unify);

}  // namespace quern
