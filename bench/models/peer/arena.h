#pragma once
// Memory for what the steps of a network hand each other: one block, in which results that are not needed at the same
// time lie in the same place, so that the caches hold more of them.

#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "ir/value/tensor.h"

namespace quern::bench {

class Arena {
 public:
  explicit Arena(dnnl::engine engine) : engine_(std::move(engine)) {}

  /// Has no address before `place`.
  dnnl::memory make(const dnnl::memory::desc& desc);
  /// A part of one that was made here, from a byte on.
  dnnl::memory part(const dnnl::memory& whole, const dnnl::memory::desc& desc, size_t byte);
  /// Says that a step, numbered from 0, uses a memory; one that was not made here is let be.
  void use(const dnnl::memory& memory, size_t step);
  /// Gives all their addresses.
  void place();

 private:
  struct Buffer {
    size_t bytes = 0, start = 0;
    size_t first_step = SIZE_MAX, last_step = 0;
  };
  struct Place {
    dnnl::memory memory;
    size_t buffer = 0, byte = 0;
  };
  dnnl::memory add(const dnnl::memory::desc& desc, size_t buffer, size_t byte);
  size_t lowest_start(const Buffer& buffer, const std::vector<size_t>& placed) const;

  dnnl::engine engine_;
  std::vector<Buffer> buffers_;
  std::vector<Place> places_;
  std::unordered_map<dnnl_memory_t, size_t> place_of_;
  TensorPtr block_;
};

}  // namespace quern::bench
