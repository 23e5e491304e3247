#pragma once
// Memory of tensors. Large blocks of dead tensors are kept for reuse: a loop over large tensors then requests
// nothing from the operating system, and touches pages that are already mapped.

#include <cstddef>

namespace quern {

/// The alignment of a tensor's first element.
constexpr size_t kTensorAlignment = 64;

/// At least `bytes` (> 0) at a multiple of kTensorAlignment; throws std::bad_alloc if there is none.
/// Thread-safe.
std::byte* allocate_tensor_memory(size_t bytes);
/// Releases memory of allocate_tensor_memory(bytes).
void release_tensor_memory(std::byte* memory, size_t bytes);
/// Gives the whole pages within a part of a mapped file back to the system, which reads them again when they are touched.
void release_mapped_pages(const std::byte* memory, size_t bytes);

}  // namespace quern
