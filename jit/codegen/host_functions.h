#pragma once
// Functions that compiled kernels call, one element at a time, for operands that are too rare to be inlined.

#include <span>

namespace quern::codegen {

struct HostFunction {
  const char* symbol;  ///< the name in kernels: `quern_sin_f64`
  const void* address;
};

/// All of them. The names are `quern_<scalar function>_<f32|f64>`, with one or two operands of that
/// type and a result of the same type.
std::span<const HostFunction> host_functions();

}  // namespace quern::codegen
