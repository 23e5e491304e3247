#pragma once
// Kernels whose loops are bound to a GPU's grid.

#include <map>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The launch extents of such a kernel: per index, the maximal steps of the loops bound to it. Empty for any
/// other kernel.
std::map<GridIndex, Dim> launch_extents(const Kernel& kernel);

}  // namespace quern::loops
