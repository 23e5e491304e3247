#pragma once
// Functions called by compiled kernels: for operands too rare to inline, one element at a time; and for
// memory.

#include <span>

namespace quern::codegen {

struct HostFunction {
  const char* symbol;  ///< the name in kernels: `quern_sin_f64`
  const void* address;
};

/// `void* (int64_t bytes)`: memory that the calling thread keeps for its next call, 64-byte aligned; null if
/// there is none.
inline constexpr const char* kWorkspace = "quern_workspace";

/// The flag of ir/base/interrupt.h, a byte.
inline constexpr const char* kInterruptFlag = "quern_interrupt_flag";

/// All host functions. The names of the others are `quern_<scalar function>_<f32|f64>`, with one or two
/// operands of that type and a result of the same type.
std::span<const HostFunction> host_functions();

}  // namespace quern::codegen
