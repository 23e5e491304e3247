#pragma once
// The default schedule of contractions: a register tile around packed panels (Goto and van de Geijn, "Anatomy
// of High-Performance Matrix Multiplication", 2008; Low et al., "Analytical Modeling Is Enough for
// High-Performance BLIS", 2016), for any computation that reduces over the variables two reads share.

#include <optional>

#include "jit/loops/machine_model.h"
#include "jit/nest/nest.h"

namespace quern::loops {

/// The nest with its schedule, or nothing if the computation is not a contraction or too small to gain.
std::optional<Nest> scheduled_contraction(const Computation& computation, const MachineModel& machine);

}  // namespace quern::loops
