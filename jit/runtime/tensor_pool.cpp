#include "jit/runtime/tensor_pool.h"

#include <atomic>
#include <utility>

namespace quern {

namespace {

/// Only the pool holds the tensor, so that no other thread can come to hold it either.
bool is_idle(const TensorPtr& tensor) { return tensor.use_count() == 1; }

}  // namespace

TensorPtr TensorPool::make(DType dtype, Shape shape) {
  const int64_t count = element_count(shape);
  if (static_cast<size_t>(count) * dtype.bytes() < kSmallestBytes)
    return HostTensor::make(dtype, std::move(shape));
  if (TensorPtr tensor = reuse(dtype, shape, count)) return tensor;
  trim();
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  if (tensors_.size() < kMostTensors) tensors_.push_back(tensor);
  return tensor;
}

TensorPtr TensorPool::reuse(DType dtype, const Shape& shape, int64_t count) {
  for (const TensorPtr& tensor : tensors_) {
    if (tensor->size() != count || tensor->dtype() != dtype || !is_idle(tensor)) continue;
#ifndef __SANITIZE_THREAD__  // which does not know fences
    // What the last holder, perhaps on another thread, did with the elements happened before.
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    tensor->drop_forms();
    return tensor->shape() == shape ? tensor : HostTensor::view(tensor, shape);
  }
  return nullptr;
}

/// Gives back the oldest unused memory beyond the limit, and makes room in the list.
void TensorPool::trim() {
  size_t idle_bytes = 0, idle_count = 0;
  for (const TensorPtr& tensor : tensors_) {
    if (!is_idle(tensor)) continue;
    idle_bytes += tensor->bytes();
    ++idle_count;
  }
  size_t full = tensors_.size() >= kMostTensors ? 1 : 0;
  std::erase_if(tensors_, [&](const TensorPtr& tensor) {
    if (idle_count == 0 || !is_idle(tensor) || (idle_bytes <= kMostIdleBytes && full == 0)) return false;
    idle_bytes -= tensor->bytes();
    --idle_count;
    full = 0;
    return true;
  });
}

}  // namespace quern
