#include <utility>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

// The interpreter rounds each step as compiled code does, but `exp`, `log`, `pow` and `tanh` once.
Row elementary(const std::string& name, uint64_t ulps, double absolute = 0) {
  return {
      name,
      [=](Random& random) {
        return Arguments{{random.tensor(random.pick(kFloats), random.shape(), Values::Any)}, name + "(%a)"};
      },
      ulps, absolute};
}

Row of_pairs(const std::string& name) {
  return {name, [=](Random& random) {
            DType dtype = random.pick(kFloats);
            Shape shape = random.shape();
            TensorPtr full = random.tensor(dtype, shape, Values::Any);
            TensorPtr other = random.tensor(dtype, random.broadcastable(shape), Values::Any);
            if (random.chance(0.5)) std::swap(full, other);
            return Arguments{{full, other}, name + "(%a, %b)"};
          }};
}

}  // namespace

std::vector<Row> math_rows() {
  return {
      elementary("expm1", 4),
      elementary("log1p", 4),
      elementary("sinh", 6),
      elementary("cosh", 6),
      elementary("asinh", 4),
      elementary("acosh", 4),
      elementary("atanh", 4),
      elementary("asin", 0),
      elementary("acos", 0),
      elementary("atan", 0),
      elementary("cbrt", 2),
      elementary("reciprocal", 0),
      elementary("square", 0),
      of_pairs("atan2"),
      of_pairs("hypot"),
      // Its terms cancel near 1 and 2, and near the negative numbers where gamma is 1 or -1.
      elementary("lgamma", 4, 1e-14),
      elementary("erfinv", 2),
  };
}

}  // namespace quern::numeric
