#pragma once
// The number of elements of a buffer that loops access, from the offsets of their loads and stores.

#include <span>
#include <vector>

#include "ir/dim/dim.h"

namespace quern::ide {

/// A loop: its variable is at least 0 and less than its extent, which may depend on the variables of enclosing loops.
struct LoopRange {
  Dim var, extent;
};

/// The sum of a dim over a loop; null where it has no closed form.
Dim sum_over(const LoopRange& loop, Dim term);

/// Offsets that loops reach.
struct OffsetSet {
  Dim offset;  ///< over the variables of `loops` and of enclosing loops; null if it depends on data
  std::vector<LoopRange> loops{};  ///< the innermost first
  bool is_conditional = false;     ///< whether some of them may be skipped
};

struct ElementCount {
  Dim number;
  bool is_exact;  ///< otherwise an upper bound
};
/// The elements of a buffer of `size` elements that sets of offsets reach, each counted once. The facts are about
/// variables of none of the loops.
ElementCount elements_reached(std::span<const OffsetSet> sets, Dim size, const Facts& facts);

}  // namespace quern::ide
