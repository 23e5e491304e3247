#pragma once
// What emission has to know of the machine that it emits for.

#include <set>
#include <string>

namespace quern::codegen {

struct Machine {
  bool has_fma = false;  ///< llvm.fma is an instruction, not a call
  bool has_avx2 = false;
  bool has_avx512 = false;            ///< its foundation, in vectors of 64, 32 and 16 bytes
  bool checks_bounds = false;         ///< each access of a buffer is tested (loops::kOutOfBuffer)
  bool is_gpu = false;                ///< no host functions to call, buffers in global memory
  std::set<std::string> stand_ins{};  ///< the names of intrinsics in whose place functions are called
};

}  // namespace quern::codegen
