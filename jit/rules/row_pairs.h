#pragma once
// Two rows in the steps of one loop.

#include <optional>

#include "jit/loops/kernel.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

/// The statements of rows `first` and `second` loop by loop, from those of the row `row`, whose locals are numbered below
/// `locals`; the second row's locals follow them. Nothing where that gains nothing: a row's sums wait for one another,
/// and so do what is computed of one sum and the next pass, which another row's can fill; operands that rows share are
/// loaded once for both. Loops that take long by themselves, or rows that the first-level cache does not hold twice,
/// stay single.
std::optional<Block> paired_rows(const Block& statements, Dim row, Dim first, Dim second, int locals,
                                 const std::vector<Buffer>& buffers, const MachineModel& machine);

}  // namespace quern::loops
