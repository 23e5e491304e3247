#pragma once
// Memory of tensors. Large blocks of tensors that died are kept for the next ones: a loop over large tensors
// then asks the operating system for nothing, and touches pages that are already there.

#include <cstddef>

namespace quern {

/// What the address of a tensor's first element is a multiple of.
constexpr size_t kTensorAlignment = 64;

/// At least `bytes` (> 0) at a multiple of kTensorAlignment; throws std::bad_alloc where there is none. From any
/// thread.
std::byte* allocate_tensor_memory(size_t bytes);
/// Memory of allocate_tensor_memory(bytes), which nobody uses any more.
void release_tensor_memory(std::byte* memory, size_t bytes);

}  // namespace quern
