#pragma once
// Kernels whose loops are bound to a GPU's grid.

#include <map>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// How many blocks and threads such a kernel is to be launched with: the most steps of the loops that are
/// bound to an index. Empty for any other kernel.
std::map<GridIndex, Dim> launch_extents(const Kernel& kernel);

}  // namespace quern::loops
