// Memory, views and single elements of host tensors.

#include "ir/value/tensor.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "ir/base/result.h"
#include "ir/value/device.h"
#include "ir/value/scalar.h"
#include "ir/value/tensor_memory.h"

namespace quern {

static_assert(std::endian::native == std::endian::little, "host tensors are little-endian");

namespace {

/// Target of empty tensors' pointers, so that data() is never null: memcpy and friends forbid null even for
/// zero bytes.
alignas(kTensorAlignment) std::byte empty_storage[kTensorAlignment];

size_t checked_byte_size(DType dtype, int64_t count) {
  int64_t bytes = 0;
  QUERN_CHECK(!__builtin_mul_overflow(count, static_cast<int64_t>(dtype.bytes()), &bytes));
  return static_cast<size_t>(bytes);
}

}  // namespace

int64_t element_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    QUERN_CHECK(extent >= 0);
    if (extent == 0)
      empty = true;
    else
      QUERN_CHECK(!__builtin_mul_overflow(count, extent, &count));
  }
  return empty ? 0 : count;
}

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)), data_(empty_storage) {
  size_t bytes = checked_byte_size(dtype_, size_);
  if (bytes == 0) return;
  data_ = allocate_tensor_memory(bytes);
}

HostTensor::HostTensor(DType dtype, Shape shape, std::byte* data)
    : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)), data_(data) {}

struct HostTensor::Observers {
  std::mutex mutex;
  std::vector<std::weak_ptr<MemoryObserver>> list;
};

void HostTensor::observe_release(std::weak_ptr<MemoryObserver> observer) const {
  std::atomic<Observers*>& place = owner().observers_;
  Observers* observers = place.load(std::memory_order_acquire);
  if (observers == nullptr) {
    auto made = std::make_unique<Observers>();
    if (place.compare_exchange_strong(observers, made.get(), std::memory_order_acq_rel))
      observers = made.release();
  }
  const std::lock_guard lock(observers->mutex);
  std::erase_if(observers->list, [](const auto& known) { return known.expired(); });
  observers->list.push_back(std::move(observer));
}

void HostTensor::release_pages() const {
  if (owner().is_mapped_) release_mapped_pages(owner().data_, owner().bytes());
}

HostTensor::~HostTensor() {
  const std::unique_ptr<Observers> observers(observers_.load(std::memory_order_acquire));
  if (observers)
    for (const auto& known : observers->list)
      if (const auto observer = known.lock()) observer->released(*this);
  if (base_ || block_ || data_ == empty_storage) return;
  if (device_)
    device_->release(data_, bytes());
  else
    release_tensor_memory(data_, bytes());
}

TensorPtr HostTensor::make(DType dtype, Shape shape) {
  return std::make_shared<HostTensor>(dtype, std::move(shape));
}

TensorPtr HostTensor::zeros(DType dtype, Shape shape) {
  TensorPtr tensor = make(dtype, std::move(shape));
  std::memset(tensor->data(), 0, tensor->bytes());
  return tensor;
}

TensorPtr HostTensor::over(std::shared_ptr<const void> memory, const std::byte* data, DType dtype,
                           Shape shape, bool is_mapped) {
  auto tensor = std::make_unique<HostTensor>(dtype, std::move(shape), empty_storage);
  if (tensor->bytes() == 0) return tensor;
  QUERN_CHECK(reinterpret_cast<uintptr_t>(data) % dtype.lane().bytes() == 0);
  tensor->data_ = const_cast<std::byte*>(data);
  tensor->is_over_ = true;
  tensor->is_mapped_ = is_mapped;
  return {tensor.release(), [memory = std::move(memory)](HostTensor* dead) {
            dead->data_ = empty_storage;
            delete dead;
          }};
}

TensorPtr HostTensor::within(TensorPtr block, size_t offset, DType dtype, Shape shape) {
  const size_t bytes = checked_byte_size(dtype, element_count(shape));
  QUERN_CHECK(offset % kTensorAlignment == 0 && offset <= block->bytes() && bytes <= block->bytes() - offset);
  auto tensor = std::make_shared<HostTensor>(dtype, std::move(shape), block->data_ + offset);
  tensor->block_ = std::move(block);
  return tensor;
}

TensorPtr HostTensor::on(std::shared_ptr<Device> device, DType dtype, Shape shape) {
  auto tensor = std::make_shared<HostTensor>(dtype, std::move(shape), empty_storage);
  if (const size_t bytes = tensor->bytes(); bytes > 0) tensor->data_ = device->allocate(bytes);
  tensor->device_ = std::move(device);
  return tensor;
}

TensorPtr HostTensor::view(TensorPtr base, Shape shape) {
  QUERN_CHECK(base != nullptr && element_count(shape) == base->size());
  DType dtype = base->dtype_;
  return view(std::move(base), dtype, std::move(shape));
}

TensorPtr HostTensor::view(TensorPtr base, DType dtype, Shape shape) {
  auto result = std::make_shared<HostTensor>(dtype, std::move(shape), base->data_);
  // A view of a view holds the owner itself, so that views do not keep each other alive.
  result->base_ = base->base_ ? base->base_ : std::move(base);
  return result;
}

TensorPtr HostTensor::lanes_of(TensorPtr base) {
  DType dtype = base->dtype_;
  if (!dtype.is_vector()) return base;
  Shape shape = base->shape_;
  shape.push_back(dtype.lanes);
  return view(std::move(base), dtype.lane(), std::move(shape));
}

TensorPtr HostTensor::vectors_of(TensorPtr base, DType vector) {
  Shape shape = base->shape_;
  if (base->dtype_ != vector.lane() || shape.empty() || shape.back() != vector.lanes) return nullptr;
  shape.pop_back();
  return view(std::move(base), vector, std::move(shape));
}

void fill_element(HostTensor& tensor, int64_t offset, const Scalar& lane) {
  const DType dtype = tensor.dtype();
  QUERN_CHECK(offset >= 0 && offset < tensor.size() && lane.dtype == dtype.lane());
  const size_t width = lane.dtype.bytes();
  std::byte* to = tensor.data() + static_cast<size_t>(offset) * dtype.bytes();
  for (size_t k = 0; k < dtype.lanes; ++k) std::memcpy(to + k * width, &lane.bits, width);
}

bool lanes_agree(const HostTensor& tensor) {
  const size_t element = tensor.dtype().bytes(), lane = tensor.dtype().lane().bytes();
  for (size_t at = lane; at < tensor.bytes(); at += lane)
    if (at % element != 0 && std::memcmp(tensor.data() + at - lane, tensor.data() + at, lane) != 0)
      return false;
  return true;
}

int64_t element_as_int(const HostTensor& tensor, int64_t offset) {
  QUERN_CHECK(offset >= 0 && offset < tensor.lane_count());
  size_t at = static_cast<size_t>(offset);
  bool is_unsigned = tensor.dtype().code == DTypeCode::UInt;
  QUERN_CHECK(!tensor.dtype().is_float());
  if (tensor.dtype().is_bool()) return tensor.elements<uint8_t>()[at] != 0;
  switch (tensor.dtype().bits) {
    case 8: return is_unsigned ? tensor.elements<uint8_t>()[at] : tensor.elements<int8_t>()[at];
    case 16: return is_unsigned ? tensor.elements<uint16_t>()[at] : tensor.elements<int16_t>()[at];
    case 32: return is_unsigned ? int64_t{tensor.elements<uint32_t>()[at]} : tensor.elements<int32_t>()[at];
    case 64: return tensor.elements<int64_t>()[at];  // a uint64 of 2^63 or more yields its two's complement
  }
  bug("a width of integers", __FILE__, __LINE__);
}

double element_as_double(const HostTensor& tensor, int64_t offset) {
  DType dtype = tensor.dtype();
  if (!dtype.is_float()) {
    int64_t value = element_as_int(tensor, offset);
    bool is_uint64 = dtype.code == DTypeCode::UInt && dtype.bits == 64;
    return is_uint64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
  }
  QUERN_CHECK(offset >= 0 && offset < tensor.lane_count());
  size_t at = static_cast<size_t>(offset);
  if (dtype.bits == 64) return tensor.elements<double>()[at];
  if (dtype.bits == 32) return tensor.elements<float>()[at];
  Scalar narrow{dtype.lane()};
  std::memcpy(&narrow.bits, tensor.data() + at * narrow.dtype.bytes(), narrow.dtype.bytes());
  return narrow.as_double();
}

}  // namespace quern
