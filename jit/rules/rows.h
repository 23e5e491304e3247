#pragma once
// Stages computed one after another for each row.

#include "jit/compute/computation.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

/// Loops over the rows, the longest shared by threads, around the default loops of the stages; of one row, or of two
/// (jit/rules/row_pairs.h).
Kernel scheduled_rows(const RowComputation& computation, const MachineModel& machine);

}  // namespace quern::loops
