#pragma once
// The result of lowering a primitive function: a kernel, and its further inputs.

#include <vector>

#include "ir/expr/schedule.h"
#include "jit/loops/kernel.h"

namespace quern::loops {

/// A prepacked form of an input, passed to the kernel as a buffer after its output. The entry of `form` has
/// the tensor and the form as buffers, and the same dims as the kernel.
struct PackedInput {
  int buffer;  ///< of the tensor, or of an earlier form
  Kernel form;
};

struct Lowered {
  Kernel kernel;
  std::vector<PackedInput> packed;  ///< in buffer order
  /// One per nest it was made from; none for loops of the default schedule.
  std::vector<Schedule> schedules = {};
};

}  // namespace quern::loops
