#pragma once
// Stages computed one after another for each row.

#include "jit/compute/computation.h"

namespace quern::loops {

/// Loops over the rows, the longest shared by threads, around the default loops of the stages.
Kernel scheduled_rows(const RowComputation& computation, int vector_bytes);

}  // namespace quern::loops
