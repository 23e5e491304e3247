#pragma once
// Prepacked forms of tensors: copies of their elements in the order in which a kernel reads them, made once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/value/tensor.h"

namespace quern {

class CompiledKernel;

/// The forms that the kernels of one source have made. A form is identified by the memory of its tensor, the kernel that
/// made it and the dims on which that depends; it is released with that memory, or with this object. Thread-safe.
class PrepackedForms {
 public:
  PrepackedForms();
  ~PrepackedForms();
  PrepackedForms(const PrepackedForms&) = delete;
  PrepackedForms& operator=(const PrepackedForms&) = delete;

  /// Null if it has not been made.
  HostTensor* find(const HostTensor& tensor, const CompiledKernel& maker,
                   std::span<const int64_t> dims) const;
  /// Keeps a form and returns it, or the one that another thread has kept meanwhile. A mapped tensor gives its pages back
  /// to the system: who packs a weight does not read it again.
  HostTensor& keep(const HostTensor& tensor, std::shared_ptr<const CompiledKernel> maker,
                   std::vector<int64_t> dims, TensorPtr form);

  struct Size {
    size_t count = 0, bytes = 0;
  };
  /// What is kept now.
  Size size() const;

 private:
  class Table;
  const std::shared_ptr<Table> table_;
};

}  // namespace quern
