#pragma once
// The schedule of computations that no other rule covers.

#include "jit/compute/computation.h"

namespace quern::loops {

/// The default schedule: neighbouring loops that every access traverses like one loop are merged; the
/// innermost axis of the result, or of a reduction whose reads run along it, is vectorized over
/// `vector_bytes`; everything else is serial. The loop that running results follow is the innermost of the
/// result's loops; a scatter's loops come after them, in order.
Kernel schedule_default(const Computation& computation, int vector_bytes);
/// The computation with neighbouring loops that every access traverses like one merged.
Computation with_merged_loops(Computation computation);

/// A computation some of whose result's loops are merged with the next one, which keeps its variable.
struct MergedLoops {
  struct Pair {
    Dim outer, inner;
  };
  Computation computation;
  std::vector<Pair> merged{};  ///< in the order of merging, innermost first
};
/// Merges the result's loops where the inner one's extent is known, so that quotients by it cancel.
MergedLoops with_merged_results(Computation computation);
/// The lanes of a vector of the widest element involved.
int lanes_of(const Computation& computation, int vector_bytes);
/// The loops of such a kernel, for use as part of another.
Block loops_of(const Computation& computation, int vector_bytes);

}  // namespace quern::loops
