#pragma once
// Combines the kernels of a result's parts into one.

#include <vector>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// One kernel that does the work of several independent ones. Each has the buffers of the previous one and
/// perhaps more. If all are loops along one axis, they take turns in its steps, so that adjacent elements are
/// stored together, by one thread; otherwise they follow one another, and so do their ranges.
Kernel in_sequence(const std::vector<Kernel>& kernels);

}  // namespace quern::loops
