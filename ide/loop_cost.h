#pragma once
// The static cost of the loops of a kernel.

#include <string>
#include <vector>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// The cost of one run of a loop or a kernel, over the kernel's dims and the variables of the enclosing loops. It
/// includes what conditions skip.
struct LoopCost {
  const For* loop;  ///< null for the kernel
  /// As operation_count counts them (jit/vm/operation_count.h); null if they have no closed form.
  Dim operations;
  Dim bytes;      ///< of the elements of buffers that it loads and stores, each once
  bool is_exact;  ///< otherwise `bytes` is an upper bound
};

/// The cost of the kernel, then of each loop, in text order.
std::vector<LoopCost> loop_costs(const Kernel& kernel);

/// The text of a kernel (loops::print_kernel) with its cost and that of each loop beside them, as comments.
std::string print_with_costs(const Kernel& kernel);

}  // namespace quern::loops
