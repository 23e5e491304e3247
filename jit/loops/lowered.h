#pragma once
// What lowering makes of a primitive function: a kernel, and what else it is given.

#include <vector>

#include "ir/expr/schedule.h"
#include "jit/loops/kernel.h"

namespace quern::loops {

/// Another form of an input that a kernel takes, as a buffer after its output. The entry of `form` has the
/// tensor and the form as buffers, and the same dims as the kernel.
struct PackedInput {
  int buffer;  ///< of the tensor, or of a form before this one
  Kernel form;
};

struct Lowered {
  Kernel kernel;
  std::vector<PackedInput> packed;  ///< in the order of the buffers
  /// Of each nest that it was made of; none of loops that the default schedule made.
  std::vector<Schedule> schedules = {};
};

}  // namespace quern::loops
