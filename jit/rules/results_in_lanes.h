#pragma once
// Results of sums whose terms run in lanes, in lanes of their own.

#include "jit/compute/statements.h"

namespace quern::loops {

/// Whether the results along the innermost loop are worth vectors of their own: each of them calls a function such as
/// `tanh`, which takes as long for a vector as for one, and none of the sums needs another's result. `lanes` is the
/// loop that runs in lanes, null for none.
bool has_results_in_lanes(const Computation& computation, Dim lanes, int width);

/// The statements of one block of results: the sums of each result of the innermost loop, of at most `most`, which wait in
/// scratch memory, and then the results, a vector at a time.
Block results_in_lanes(Computation& computation, int64_t most, int width, const ReductionLoop& loop);

}  // namespace quern::loops
