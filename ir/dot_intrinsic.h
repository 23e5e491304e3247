#pragma once
// Instructions that an `op` with a clause `lowering` declares: to each lane of an accumulator they add the
// products of a group of neighbours.

#include <memory>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace quern {

/// accumulator[i] + sum over r < group of a[i, r] * b[i, r], for i < lanes.
struct DotIntrinsic {
  std::string name;  ///< of the op: "x86.dot4_512"
  std::string llvm;  ///< of LLVM's intrinsic, whose operands are the accumulator, a and b
  /// Features of the machine as LLVM calls them: `,` between those that it takes together, `|` between
  /// machines of different kinds.
  std::string needs;
  DType accumulator, a, b;
  int lanes = 0, group = 0;
  friend bool operator==(const DotIntrinsic&, const DotIntrinsic&) = default;
};

using DotIntrinsicPtr = std::shared_ptr<const DotIntrinsic>;
using DotIntrinsics = std::vector<DotIntrinsicPtr>;

}  // namespace quern
