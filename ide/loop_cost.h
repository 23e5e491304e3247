#pragma once
// What the loops of a kernel cost, by what they say.

#include <string>
#include <vector>

#include "jit/loops/kernel.h"

namespace quern::loops {

/// Of one run of a loop or a kernel, over the kernel's dims and the variables of the loops around it. What conditions
/// leave out counts.
struct LoopCost {
  const For* loop;  ///< null for the kernel
  /// As operation_count has them (jit/vm/operation_count.h); null where they have no closed form.
  Dim operations;
  Dim bytes;      ///< of the elements of buffers that it loads and stores, each once
  bool is_exact;  ///< otherwise there are at most as many bytes
};

/// The kernel's, then each loop's, in the order of the text.
std::vector<LoopCost> loop_costs(const Kernel& kernel);

/// The text of a kernel (loops::print_kernel) with its cost and that of each loop beside them, as comments.
std::string print_with_costs(const Kernel& kernel);

}  // namespace quern::loops
