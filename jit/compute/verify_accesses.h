#pragma once
// Guards dominate reads: the invariant of the loop IR that keeps accesses in bounds.

#include <string>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The first access of a kernel that is out of bounds at a step of its loops, or "". An access is in bounds
/// if that follows from the ranges of the loops, the conditions of enclosing If statements, and its own
/// checks; conditions of a Select do not count, since both arms are evaluated. If it does not follow, steps
/// are tried one by one, up to a limit. Accesses over non-constant extents are not examined, nor are computed
/// ones, which gradients reuse from where they were checked, and those of Dot.
std::string outside_access(const Kernel& kernel);

}  // namespace quern::loops
