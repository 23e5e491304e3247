#pragma once
// What schedules know of the machine that they are for.

#include <cstdint>

#include "ir/expr/dot_intrinsic.h"

namespace quern::loops {

struct MachineModel {
  int vector_bytes = 16;  ///< of a register
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;  ///< of a core
  DotIntrinsics dots{};          ///< instructions for sums of products that the machine has
  /// What errors are accepted: those of Winograd's convolution with tiles of 2 or 4
  /// (jit/rules/winograd.h), or 0.
  int winograd_tile = 0;
  /// Loops are as the computation has them, one step at a time: no rule gives a schedule, a stated one is not
  /// done. What a schedule does wrong is found by comparing with these.
  bool plain_loops = false;

  /// Of the vectors that loops are to be done in.
  int loop_bytes() const { return plain_loops ? 1 : vector_bytes; }
};

}  // namespace quern::loops
