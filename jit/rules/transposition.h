#pragma once
// The default schedule of computations that read a tensor along another axis than they write: squares
// transposed in registers.

#include <optional>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// The nest with its schedule, or nothing if the computation has no such read.
std::optional<Nest> scheduled_transposition(const Computation& computation, const MachineModel& machine);

/// For a tensor that is contiguous along no loop, such as weights under a stride: each neighbour in the result reads a block
/// of its own, so blocks are read as a whole, element by element. Gathers of one element of each block, in lanes, would
/// load each cache line many times.
std::optional<Nest> scheduled_blocks(const Computation& computation);

}  // namespace quern::loops
