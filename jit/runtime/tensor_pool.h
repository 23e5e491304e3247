#pragma once
// Memory of tensors that died, kept for the next ones of the same size: a loop over large tensors then asks
// the operating system for nothing, and touches pages that are already there.

#include <cstddef>
#include <vector>

#include "ir/tensor.h"

namespace quern {

/// Belongs to one execution, and to one thread at a time.
class TensorPool {
 public:
  /// Uninitialised elements, in memory of a tensor that nobody holds any more where one fits. The byte size
  /// must be representable; throws std::bad_alloc where there is no memory.
  TensorPtr make(DType dtype, Shape shape);

 private:
  /// Smaller tensors are left to the allocator, which is quick at these sizes.
  static constexpr size_t kSmallestBytes = size_t{64} << 10;
  /// How much unused memory the pool may hold back when it is asked for more.
  static constexpr size_t kMostIdleBytes = size_t{256} << 20;
  static constexpr size_t kMostTensors = 32;

  void trim();
  TensorPtr reuse(DType dtype, const Shape& shape, int64_t count);

  /// Tensors handed out; one that only the pool holds is free. The oldest come first.
  std::vector<TensorPtr> tensors_;
};

}  // namespace quern
