#pragma once
// Guards dominate reads: the invariant of the loop IR that keeps code inside of its buffers.

#include <string>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The first access of a kernel that is outside of its buffer at a step of the loops around it, or "". An
/// access is inside where that follows from the ranges of the loops, the conditions of the If statements
/// around it, and its own checks; conditions of a Select do not count, since both arms are evaluated. Where
/// it does not follow, the steps are tried, of very many the first. Accesses over extents that are no numbers
/// are not looked at, nor are computed ones, which gradients take over from where they were checked, and
/// those of Dot.
std::string outside_access(const Kernel& kernel);

}  // namespace quern::loops
