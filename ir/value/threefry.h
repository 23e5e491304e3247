#pragma once
// Random numbers as a function of a key and a counter (Salmon, Moraes, Dror and Shaw: Parallel random
// numbers: as easy as 1, 2, 3. SC 2011).

#include <array>
#include <cstdint>
#include <vector>

#include "ir/value/tensor.h"

namespace quern {

using ThreefryWords = std::array<uint64_t, 4>;

/// Threefry-4x64 with 20 rounds: four words for a counter under a key.
ThreefryWords threefry4x64(const ThreefryWords& counter, const ThreefryWords& key);

/// A sequence of numbers, in blocks of four. As in Relay's `random.threefry_key`, the seed is the first word
/// of the key, and the last word of the counter counts; the others are 0.
class Threefry {
 public:
  explicit Threefry(uint64_t seed) : key_{seed} {}

  /// The next `count` numbers. The rest of the last block is discarded.
  std::vector<uint64_t> generate(size_t count);
  /// A tensor from the leading bits of each number: floats uniform over [0, 1), integers from 0 to 15, bools.
  TensorPtr tensor(DType dtype, Shape shape);

 private:
  const ThreefryWords key_;
  uint64_t blocks_ = 0;  ///< used so far
};

}  // namespace quern
