#pragma once
// Statements of reductions, and what a computation costs.

#include <functional>

#include "jit/compute/computation.h"
#include "jit/loops/build.h"

namespace quern::loops {

/// A loop of a reduction around a body.
using ReductionLoop = std::function<StmtPtr(Dim var, Dim extent, Block body)>;

/// What stands before the loops of a reduction that is not a tile's: its locals with their first values, and
/// that an arg-reduction is not of an empty range.
void open_reduction(const Reduction& reduction, Block& body);
/// A reduction or `let`, and what is inside of it, with loops as the computation says them.
void add_reduction(const Reduction& reduction, const ReductionLoop& loop, Block& body);

/// What stands in Kernel::work.
Dim work_of(const Computation& computation);

}  // namespace quern::loops
