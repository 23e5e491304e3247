#pragma once
// The default schedule of reductions whose reads run along the result's last index: depthwise convolutions,
// pools, sums over leading axes. A tile of accumulators is in registers; neighbours in a window share loads.

#include <optional>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// The nest with its schedule, or nothing if the computation is not such a reduction.
std::optional<Nest> scheduled_window(const Computation& computation, const MachineModel& machine);

}  // namespace quern::loops
