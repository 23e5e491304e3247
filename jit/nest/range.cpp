// The loops and steps that form a kernel's range.

#include <algorithm>

#include "jit/nest/writer.h"

namespace quern::loops {

/// Whether the range also covers the loops around the parallel one: if its own steps are too few for even
/// sharing, and the others are not too many to skip over.
bool NestWriter::loops_are_numbered() const {
  constexpr int64_t kFew = 64;
  if (nest_.parallel_ == kNoLoop || !nest_.fills_.empty() || nest_.written_ != kNoLoop) return false;
  int64_t around = 1;
  for (const LoopId loop : parts_.outer) {
    const auto steps = nest_.most_steps(loop);
    if (loop == nest_.parallel_) return steps && *steps < kFew;
    if (kind_of(loop) == LoopKind::Vectorize || loop_at(loop).bound != GridIndex::None || !steps)
      return false;
    around *= *steps;
    if (around > Nest::kMostNumbered) return false;
  }
  return false;
}

/// Whether the loop's steps are, or contain, steps of the range.
bool NestWriter::is_in_range(LoopId loop) const {
  if (loop == nest_.parallel_) return true;
  const auto end = std::find(parts_.outer.begin(), parts_.outer.end(), nest_.parallel_);
  return is_numbered_ && std::find(parts_.outer.begin(), end, loop) != end;
}

/// The number of steps of the range inside one step of the k-th loop.
Dim NestWriter::range_inside(const LoopIds& order, size_t k, const Place& place) const {
  if (order[k] == nest_.parallel_) return dim_const(1);
  return range_from(order, k + 1, place);
}

/// The total number of steps from the k-th loop on.
Dim NestWriter::range_from(const LoopIds& order, size_t k, const Place& place) const {
  const int made_by = loop_at(order[k]).made_by;
  const bool is_outer = made_by >= 0 && nest_.split_of(order[k]).outer == order[k];
  if (!is_outer) return dim_mul(extent_of(order[k], place), range_inside(order, k, place));
  Dim all = dim_const(0);
  for (const Steps& steps : steps_of(nest_.split_of(order[k]), place)) {
    Place here = place;
    here.steps[made_by] = steps;
    all = dim_add(all, dim_mul(steps.count, range_inside(order, k, here)));
  }
  return all;
}

}  // namespace quern::loops
