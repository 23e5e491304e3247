#pragma once
// Lowers a primitive function to a loop nest: first element computations, then loops around them by a
// schedule.

#include "ir/base/result.h"
#include "ir/expr/expr.h"
#include "jit/loops/lowered.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

/// computation_of, then the schedule stated by the index expression, exactly as written, or the default one
/// for the computation. Fails, and names the step, if a stated schedule cannot be applied. A kernel's name is
/// derived from its canonical text.
Result<Lowered> lower(const FnExpr& primitive, const MachineModel& machine);

}  // namespace quern::loops
