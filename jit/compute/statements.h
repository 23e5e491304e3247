#pragma once
// Statements of reductions, and what a computation costs.

#include <functional>

#include "jit/compute/computation.h"
#include "jit/loops/build.h"

namespace quern::loops {

/// A loop of a reduction around a body.
using ReductionLoop = std::function<StmtPtr(Dim var, Dim extent, Block body)>;

/// The statements before the loops of a reduction outside tiles: its locals with their initial values, and
/// the check that an arg-reduction's range is not empty.
void open_reduction(const Reduction& reduction, Block& body);
/// A reduction or `let` and its contents, with loops in the computation's order.
void add_reduction(const Reduction& reduction, const ReductionLoop& loop, Block& body);

/// The value of Kernel::work.
Dim work_of(const Computation& computation);

}  // namespace quern::loops
