#pragma once
// Runs compiled kernels on arrays that lie between inaccessible pages, so that a load or store out of bounds
// stops the test instead of going unseen.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ir/value/scalar.h"
#include "jit/codegen/codegen.h"

namespace quern {

/// Elements whose last byte is the last before an inaccessible page.
class GuardedArray {
 public:
  GuardedArray(DType dtype, size_t size) : dtype_(dtype), size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (size * dtype.bytes() + page - 1) / page * page;
    mapped_ = bytes + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (bytes != 0) mprotect(base_ + page, bytes, PROT_READ | PROT_WRITE);
    data_ = base_ + page + bytes - size * dtype.bytes();
  }
  GuardedArray(DType dtype, std::initializer_list<double> values) : GuardedArray(dtype, values.size()) {
    size_t i = 0;
    for (const double value : values) set(i++, Scalar::from_double(dtype, value));
  }
  GuardedArray(GuardedArray&& other) noexcept
      : dtype_(other.dtype_),
        size_(other.size_),
        mapped_(other.mapped_),
        base_(other.base_),
        data_(other.data_) {
    other.base_ = nullptr;
  }
  GuardedArray& operator=(GuardedArray&&) = delete;
  ~GuardedArray() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }

  void* data() { return data_; }
  size_t size() const { return size_; }
  Scalar operator[](size_t i) const {
    Scalar value{dtype_, 0};
    std::memcpy(&value.bits, data_ + i * dtype_.bytes(), dtype_.bytes());
    return value;
  }
  void set(size_t i, const Scalar& value) {
    std::memcpy(data_ + i * dtype_.bytes(), &value.bits, dtype_.bytes());
  }
  std::vector<double> doubles() const {
    std::vector<double> values;
    for (size_t i = 0; i < size_; ++i) values.push_back((*this)[i].as_double());
    return values;
  }

 private:
  DType dtype_;
  size_t size_;
  size_t mapped_ = 0;
  char* base_ = nullptr;
  char* data_ = nullptr;
};

inline CodeGenerator& code_generator() {
  static auto generator = CodeGenerator::create({Tiers::Best});
  if (!generator) {
    ADD_FAILURE() << generator.error().message;
    std::abort();
  }
  return **generator;
}

inline std::shared_ptr<CompiledKernel> compile(const loops::Kernel& kernel) {
  auto compiled = code_generator().compile(kernel);
  if (!compiled) {
    ADD_FAILURE() << compiled.error().message << "\n" << loops::print_kernel(kernel);
    std::abort();
  }
  return *compiled;
}

inline int32_t run(const CompiledKernel& kernel, std::initializer_list<GuardedArray*> arrays,
                   std::initializer_list<int64_t> dims = {}) {
  std::vector<void*> pointers;
  for (GuardedArray* array : arrays) pointers.push_back(array->data());
  return kernel.entry.load()(pointers.data(), dims.begin());
}

/// Lanes of one vector register for elements of this dtype, and at least two.
inline int lanes_of(DType dtype) {
  return std::max(2, code_generator().target().machine.vector_bytes / static_cast<int>(dtype.bytes()));
}

/// Equal bits, or both NaN.
inline bool same(const Scalar& a, const Scalar& b) {
  if (a.dtype.is_float() && a.dtype == b.dtype && a.as_double() != a.as_double())
    return b.as_double() != b.as_double();
  return a == b;
}

}  // namespace quern
