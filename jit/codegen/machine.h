#pragma once
// Properties of the target machine that emission needs.

#include <set>
#include <string>

namespace quern::codegen {

struct Machine {
  bool has_fma = false;  ///< llvm.fma is an instruction, not a call
  bool has_avx2 = false;
  bool has_avx512 = false;            ///< the foundation subset, in vectors of 64, 32 and 16 bytes
  bool checks_bounds = false;         ///< test each buffer access (loops::kOutOfBuffer)
  bool is_gpu = false;                ///< no host functions to call, buffers in global memory
  std::set<std::string> stand_ins{};  ///< the names of intrinsics replaced by function calls
};

}  // namespace quern::codegen
