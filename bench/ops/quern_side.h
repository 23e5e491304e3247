#pragma once
// Quern at a row of the operators' bench.

#include <vector>

#include "bench/harness/quern_program.h"
#include "bench/ops/work.h"

namespace quern::bench {

class QuernSide final : public QuernProgram {
 public:
  /// Compiles the work's @main and calls it once; the plain inputs are put into the layout of its operands.
  /// The result, in the libraries' layout.
  Result<TensorPtr> prepare(const Work& work, const std::vector<TensorPtr>& inputs);
};

}  // namespace quern::bench
