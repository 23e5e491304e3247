#pragma once
// Functions that compiled kernels call: one element at a time, for what is not inlined as vector code.

#include <span>

namespace quern::codegen {

struct HostFunction {
  const char* symbol;  ///< the name in kernels: `quern_erf_f32`
  const void* address;
};

/// All of them. The names are `quern_<scalar function>_<f32|f64|i64|u64>`, with one or two operands of that
/// type and a result of the same type.
std::span<const HostFunction> host_functions();

}  // namespace quern::codegen
