#pragma once
// Functions that compiled kernels call: for operands that are too rare to be inlined, one element at a time;
// and for memory.

#include <span>

namespace quern::codegen {

struct HostFunction {
  const char* symbol;  ///< the name in kernels: `quern_sin_f64`
  const void* address;
};

/// `void* (int64_t bytes)`: memory of the calling thread that it keeps for the next call, 64-byte aligned;
/// null where there is none.
inline constexpr const char* kWorkspace = "quern_workspace";

/// The flag of ir/base/interrupt.h, a byte.
inline constexpr const char* kInterruptFlag = "quern_interrupt_flag";

/// All of them. The names of the others are `quern_<scalar function>_<f32|f64>`, with one or two operands of
/// that type and a result of the same type.
std::span<const HostFunction> host_functions();

}  // namespace quern::codegen
