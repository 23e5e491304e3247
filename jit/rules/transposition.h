#pragma once
// The default schedule of computations that read a tensor along another axis than they write: squares
// transposed in registers.

#include <optional>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// The nest with its schedule, or nothing if the computation has no such read.
std::optional<Nest> scheduled_transposition(const Computation& computation, const MachineModel& machine);

}  // namespace quern::loops
