#pragma once
// Kernels of the parts of a result, as one.

#include <vector>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// A kernel that does what the kernels do, which do not depend on each other. Each has the buffers of the one
/// before it and perhaps more. Where all are loops along one axis they take turns in its steps, so that what
/// they store side by side is stored together and by one thread; else they come one after another, and so do
/// their ranges.
Kernel in_sequence(const std::vector<Kernel>& kernels);

}  // namespace quern::loops
