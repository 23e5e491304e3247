#pragma once
// The structural invariants of the loop IR.

#include <string>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The first violation in a kernel, or "", in time linear in its size:
///
/// - Dims are over the kernel's dims and the variables of enclosing loops; each loop has its own variable.
/// - A local is declared before its use, in an enclosing block; a tile has as many indices as axes.
/// - Loads, stores and updates address existing buffers with their dtype and rank; inputs are not written.
/// - Functions have the right number of operands, and values all of theirs; widths are positive, extents are
///   not negative; a trap has a text.
std::string verify(const Kernel& kernel);

}  // namespace quern::loops
