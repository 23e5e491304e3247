#pragma once
// What emission has to know of the machine that it emits for.

namespace quern::codegen {

struct Machine {
  bool has_fma = false;  ///< llvm.fma is an instruction, not a call
  bool is_gpu = false;   ///< no host functions to call, buffers in global memory
};

}  // namespace quern::codegen
