#pragma once
// From a primitive function to a loop nest: element computations first, then loops around them by a schedule.

#include "ir/base/result.h"
#include "ir/expr/expr.h"
#include "jit/loops/lowered.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

/// computation_of, then the schedule that the index expression states, as it is written, or the default one
/// for what it is. Fails, and says which step it is, where a stated schedule cannot be. A kernel's name is
/// derived from its canonical text.
Result<Lowered> lower(const FnExpr& primitive, const MachineModel& machine);

}  // namespace quern::loops
