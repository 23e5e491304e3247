#pragma once
// Host tensors: dense, row-major, little-endian. Their memory is aligned to 64 bytes, that of files to their elements.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/type/dtype.h"
#include "ir/value/value_style.h"

namespace quern {

using Shape = std::vector<int64_t>;

/// Elements of `shape`: the product of its extents; 1 for rank 0.
int64_t element_count(std::span<const int64_t> shape);

class Device;
class HostTensor;
using TensorPtr = std::shared_ptr<HostTensor>;

/// Keeps what was made of tensors' elements, until their memory is released.
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  /// `owner`, a tensor that owns its memory, is about to release it. Called on the thread that drops the last reference.
  virtual void released(const HostTensor& owner) = 0;
};

class HostTensor {
 public:
  /// Uninitialised elements. The byte size must be representable (callers check external extents).
  static TensorPtr make(DType dtype, Shape shape);
  static TensorPtr zeros(DType dtype, Shape shape);
  template <class T>
  static TensorPtr from(DType dtype, Shape shape, std::span<const T> elements) {
    TensorPtr tensor = make(dtype, std::move(shape));
    std::copy(elements.begin(), elements.end(), tensor->elements<T>().begin());
    return tensor;
  }

  /// Elements in memory that nobody writes, which `memory` owns: aligned for one element. `is_mapped`: its pages are a
  /// file's, which can be read from there again.
  static TensorPtr over(std::shared_ptr<const void> memory, const std::byte* data, DType dtype, Shape shape,
                        bool is_mapped = false);

  /// Uninitialised elements at an offset of `block`, in bytes that no other tensor uses meanwhile.
  static TensorPtr within(TensorPtr block, size_t offset, DType dtype, Shape shape);

  /// Uninitialised elements in the memory of a device, which nothing else may touch (ir/value/device.h).
  static TensorPtr on(std::shared_ptr<Device> device, DType dtype, Shape shape);

  HostTensor(DType dtype, Shape shape);
  /// At `data`, in memory that another tensor owns.
  HostTensor(DType dtype, Shape shape, std::byte* data);
  ~HostTensor();
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return size_; }
  /// Numbers in memory: one per element, or per lane of a vector.
  int64_t lane_count() const { return size_ * dtype_.lanes; }
  size_t bytes() const { return static_cast<size_t>(size_) * dtype_.bytes(); }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  /// The memory as numbers; for vectors, their lanes.
  template <class T>
  std::span<T> elements() {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(lane_count())};
  }
  template <class T>
  std::span<const T> elements() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(lane_count())};
  }

  /// Whose memory it is in; null for the host's.
  Device* device() const { return owner().device_.get(); }
  /// Whether it owns its memory, and no observer has: the elements may be overwritten by who alone has the tensor.
  bool is_own() const { return !base_ && !is_over_ && !observers_; }
  /// The tensor that owns the memory: the base of a view, otherwise itself.
  const HostTensor& owner() const { return base_ ? *base_ : *this; }
  /// Calls `observer`, if it still exists, before the memory is released. Thread-safe.
  void observe_release(std::weak_ptr<MemoryObserver> observer) const;
  /// Gives the pages of a mapped file back to the system, which reads them again when they are touched.
  void release_pages() const;
  /// The same elements under another shape with the same count, sharing this one's memory.
  static TensorPtr view(TensorPtr base, Shape shape);
  /// A tensor of vectors as a tensor of lanes, with the lanes as its last axis; any other tensor unchanged.
  /// Shares the memory.
  static TensorPtr lanes_of(TensorPtr base);
  /// The inverse: a tensor of the lane dtype whose last axis holds the lanes of `vector`s, as a tensor of
  /// these; null for another dtype or last extent.
  static TensorPtr vectors_of(TensorPtr base, DType vector);

 private:
  static TensorPtr view(TensorPtr base, DType dtype, Shape shape);

  DType dtype_;
  Shape shape_;
  int64_t size_;
  std::byte* data_ = nullptr;
  TensorPtr base_;                  ///< owner of the memory of a view
  TensorPtr block_;                 ///< of which its memory is a part, its own while it lives
  std::shared_ptr<Device> device_;  ///< of memory that it owns
  bool is_over_ = false;            ///< memory that nobody writes
  bool is_mapped_ = false;
  struct Observers;
  mutable std::atomic<Observers*> observers_ = nullptr;  ///< if it owns its memory
};

struct Scalar;
/// Writes an element; for a vector, `lane` in every lane.
void fill_element(HostTensor& tensor, int64_t offset, const Scalar& lane);
/// Whether all lanes of each element have the same bits; true for numbers.
bool lanes_agree(const HostTensor& tensor);
/// One element as a double (narrow floats widened, integers converted, bool 0 or 1). For vectors, offsets
/// count lanes, here and below.
double element_as_double(const HostTensor& tensor, int64_t offset);
/// One integer, bool or index element, exact.
int64_t element_as_int(const HostTensor& tensor, int64_t offset);

/// Dtype and shape first, then the values: "Tensor[(2, 2), float32] [[1, 2], [3, 4]]" if that fits the width,
/// otherwise rows beneath; "…" marks elisions. The number of NaNs and infinities follows the shape. Rank 0:
/// "float32 1.5". A vector shows its lanes, elided like an axis: "Tensor[(1,), int8x2] [<1, 2>]".
std::string to_string(const HostTensor& tensor, const ValueStyle& style = {});
/// "Tensor[(2, 2), float32]", and "float32" at rank 0.
std::string type_to_string(DType dtype, std::span<const int64_t> shape);
/// Nested JSON lists of all elements (a bare number at rank 0), vectors as lists of their lanes; nan and
/// infinities as "nan", "inf", "-inf" strings.
std::string to_json(const HostTensor& tensor);

}  // namespace quern
