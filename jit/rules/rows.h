#pragma once
// Stages that are done one after another for each row.

#include "jit/compute/computation.h"

namespace quern::loops {

/// Loops over the rows, threads sharing the longest, around the default loops of the stages.
Kernel scheduled_rows(const RowComputation& computation, int vector_bytes);

}  // namespace quern::loops
