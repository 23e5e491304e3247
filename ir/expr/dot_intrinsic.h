#pragma once
// Instructions that an `op` with a clause `lowering` declares: to each element of an accumulator they add
// products of groups of neighbours.

#include <memory>
#include <string>
#include <vector>

#include "ir/type/dtype.h"

namespace quern {

/// For vectors: accumulator[j] + sum over r < group of a[j, r] * b[j, r], for j < lanes. For matrices:
/// accumulator[i, j] + sum over k < steps, r < group of a[i, k, r] * b[k, j, r], for i < rows, j < lanes.
struct DotIntrinsic {
  std::string name;  ///< of the op: "x86.dot4_512"
  /// LLVM's intrinsic. Its operands are the accumulator, a and b; for matrices, the numbers of the registers
  /// that hold them.
  std::string llvm;
  /// Machine features by LLVM's names: `,` between those needed together, `|` between alternative kinds of
  /// machines.
  std::string needs;
  DType accumulator, a, b;
  int lanes = 0, group = 0;
  int rows = 1, steps = 1;  ///< maxima, for matrices
  bool is_of_matrices() const { return rows > 1; }
  /// Whether the registers hold the sums of `above` by `beside` matrices plus the factors of one column and
  /// one row of them.
  static bool has_registers(int64_t above, int64_t beside) {
    return above * beside + above + beside <= kRegisters;
  }
  static constexpr int64_t kRegisters = 8;
  friend bool operator==(const DotIntrinsic&, const DotIntrinsic&) = default;
};

using DotIntrinsicPtr = std::shared_ptr<const DotIntrinsic>;
using DotIntrinsics = std::vector<DotIntrinsicPtr>;

}  // namespace quern
