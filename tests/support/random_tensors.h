#pragma once
// Seeded random shapes, tensors and attributes.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/value/scalar.h"
#include "ir/value/tensor.h"

namespace quern::numeric {

/// How elements are drawn.
enum class Values {
  Any,  ///< floats in -4…4 with some zeros, ties, infinities, NaN, tiny and huge ones; integers of all bits
        ///< with some 0, 1, -1 and extremes; bools
  Moderate,       ///< floats in -4…4; integers in -9…9
  Positive,       ///< floats in 0.1…4; integers in 1…9
  SmallIntegers,  ///< -4…4: float sums of a few hundred products are exact, whatever their order
  PowersOfTwo,    ///< -2, -1, -1/2, 1/2, 1, 2 (for integers -2, -1, 1, 2): float products are exact
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// Uniform in low…high.
  int64_t integer(int64_t low, int64_t high);
  double real(double low, double high);
  bool chance(double probability) { return real(0, 1) < probability; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(integer(0, static_cast<int64_t>(from.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[static_cast<size_t>(integer(0, static_cast<int64_t>(i) - 1))]);
  }

  /// Mostly 1…9, sometimes a size about the width of vectors, rarely 0 (never below `least`).
  int64_t extent(int64_t least = 0);
  /// A shape of at most 300 elements.
  Shape shape(int64_t min_rank = 0, int64_t max_rank = 4, int64_t least_extent = 0);
  /// What broadcasts to `shape`: some leading axes left out, some extents 1.
  Shape broadcastable(const Shape& shape);
  TensorPtr tensor(DType dtype, Shape shape, Values values);
  /// A list of distinct axes of a tensor of this rank, some counted from the end.
  std::vector<int64_t> axes(int64_t rank, int64_t least = 0);
  int64_t signed_axis(int64_t axis, int64_t rank) { return chance(0.5) ? axis : axis - rank; }

 private:
  Scalar element(DType dtype, Values values);
  Scalar any(DType dtype);

  std::mt19937_64 engine_;
};

/// "[1, 2]"
std::string list_text(const std::vector<int64_t>& list);
/// "(1, 2)", "(1,)", "()"
std::string shape_text(const Shape& shape);

}  // namespace quern::numeric
