#pragma once
// Instructions that an `op` with a clause `lowering` declares: to each element of an accumulator they add
// products of groups of neighbours.

#include <memory>
#include <string>
#include <vector>

#include "ir/type/dtype.h"

namespace quern {

/// Of vectors: accumulator[j] + sum over r < group of a[j, r] * b[j, r], for j < lanes.
/// Of matrices: accumulator[i, j] + sum over k < steps, r < group of a[i, k, r] * b[k, j, r], for i < rows,
/// j < lanes.
struct DotIntrinsic {
  std::string name;  ///< of the op: "x86.dot4_512"
  /// Of LLVM's intrinsic, whose operands are the accumulator, a and b; of matrices, the numbers of the
  /// registers that have them.
  std::string llvm;
  /// Features of the machine as LLVM calls them: `,` between those that it takes together, `|` between
  /// machines of different kinds.
  std::string needs;
  DType accumulator, a, b;
  int lanes = 0, group = 0;
  int rows = 1, steps = 1;  ///< at most, of matrices
  bool is_of_matrices() const { return rows > 1; }
  /// Whether there are registers for the sums of so many matrices above and beside each other, and for the
  /// factors of a column and of a row of them.
  static bool has_registers(int64_t above, int64_t beside) {
    return above * beside + above + beside <= kRegisters;
  }
  static constexpr int64_t kRegisters = 8;
  friend bool operator==(const DotIntrinsic&, const DotIntrinsic&) = default;
};

using DotIntrinsicPtr = std::shared_ptr<const DotIntrinsic>;
using DotIntrinsics = std::vector<DotIntrinsicPtr>;

}  // namespace quern
