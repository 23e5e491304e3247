#pragma once
// The structural invariants of the loop IR.

#include <string>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The first thing in a kernel that cannot be, or "", in time linear in its size:
///
/// - Dims are over the kernel's dims and the variables of the loops around; a loop has a variable of its own.
/// - A local is declared before it is used, in a block around; indices of a tile are as many as its axes.
/// - Loads, stores and updates are of buffers that there are, of their dtype and rank; what is written is no
/// input.
/// - Functions have as many operands as they take, and values all of theirs; widths are positive, extents are
/// not negative; a trap has a text.
std::string verify(const Kernel& kernel);

}  // namespace quern::loops
