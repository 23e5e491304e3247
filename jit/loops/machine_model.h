#pragma once
// The target machine as schedules see it.

#include <cstdint>

#include "ir/expr/dot_intrinsic.h"

namespace quern::loops {

/// As many as the instruction sets with vectors of this size have: AVX-512 has 32, the others 16.
constexpr int registers_of(int64_t vector_bytes) { return vector_bytes >= 64 ? 32 : 16; }

struct MachineModel {
  int vector_bytes = 16;  ///< per register
  int vector_registers = 16;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;  ///< per core
  DotIntrinsics dots{};          ///< the machine's instructions for sums of products
  /// Accepted errors: those of Winograd's convolution with tiles of 2 or 4 (jit/rules/winograd.h), or 0 for
  /// none.
  int winograd_tile = 0;
  /// Loops in the computation's order, one step at a time: no rule applies, and stated schedules are ignored.
  /// Comparing with these finds errors in schedules.
  bool plain_loops = false;

  /// Those with 32 vector registers have others for masks, and read a factor from memory in a term.
  bool has_many_registers() const { return vector_registers >= 32; }
  /// The vector size for loops.
  int loop_bytes() const { return plain_loops ? 1 : vector_bytes; }
};

}  // namespace quern::loops
