#pragma once
// The schedule of what no other rule is for.

#include "jit/compute/computation.h"

namespace quern::loops {

/// The default schedule: neighbouring loops that every access runs through like one are merged; the innermost
/// axis of the result, or of a reduction whose reads run along it, is vectorized over `vector_bytes`;
/// everything else is serial. The loop that running results follow is the innermost of the result's; a
/// scatter's loops come after them, in order.
Kernel schedule_default(const Computation& computation, int vector_bytes);
/// The lanes of a vector of the widest element that takes part.
int lanes_of(const Computation& computation, int vector_bytes);
/// The loops of such a kernel, for a part of one.
Block loops_of(const Computation& computation, int vector_bytes);

}  // namespace quern::loops
