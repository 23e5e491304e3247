#pragma once
// Where tensors lie in a block of memory that they share.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace quern {

/// The bytes that a tensor takes from one position of the code to another, both included.
struct Lifetime {
  int64_t bytes;  ///< none: it has no place in the block
  uint32_t first, last;
};

struct Placement {
  std::vector<int64_t> offsets;  ///< of each tensor, a multiple of kTensorAlignment; -1 for one without bytes
  int64_t bytes = 0;             ///< of the block
};

/// Tensors that live at the same time do not overlap. Greedy by size: the largest tensor first, in the smallest gap between
/// those placed before it that holds it (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
/// 2020, algorithm 3). A tensor that would take the block past 2^62 bytes has no place.
Placement place(std::span<const Lifetime> tensors);

/// The placements of one function's tensors for the sizes that it has met last. Thread-safe.
class Placements {
 public:
  std::shared_ptr<const Placement> of(std::span<const Lifetime> tensors);

 private:
  struct Known {
    std::vector<int64_t> sizes;
    std::shared_ptr<const Placement> placement;
  };
  std::mutex mutex_;
  std::vector<Known> known_;  ///< the latest first
};

}  // namespace quern
