// Rows of linear algebra (stdlib/linalg.relay). Matrices are far from singular, so that what is rounded stays small.

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

/// Batches of square matrices with a large diagonal; `definite` ones are symmetric, too.
TensorPtr well_conditioned(Random& random, DType dtype, const Shape& shape, bool definite) {
  TensorPtr made = random.tensor(dtype, shape, Values::Moderate);
  auto n = shape.back();
  auto each = [&]<class T>(std::span<T> elements) {
    for (int64_t at = 0; at < made->size(); ++at) {
      int64_t y = at / n % n, x = at % n;
      T& element = elements[static_cast<size_t>(at)];
      if (definite && x < y) element = elements[static_cast<size_t>(at - (y - x) * (n - 1))];
      if (x == y) element = static_cast<T>(4 * n + 1);
    }
  };
  if (dtype == DType::float64())
    each(made->elements<double>());
  else
    each(made->elements<float>());
  return made;
}

Shape batches(Random& random) {
  Shape shape = random.shape(0, 1, 1);
  int64_t n = random.integer(0, 5);
  shape.insert(shape.end(), {n, n});
  return shape;
}

Row of_squares(const std::string& name, const std::string& part, bool definite = false) {
  return {
      name,
      [=](Random& random) {
        DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
        return Arguments{{well_conditioned(random, dtype, batches(random), definite)}, name + "(%a)" + part};
      },
      256, 1e-5};
}
Row solution(const std::string& name, const std::vector<std::string>& attributes) {
  return {name,
          [=](Random& random) {
            DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
            Shape shape = batches(random), right = shape;
            right.back() = random.integer(1, 4);
            return Arguments{{well_conditioned(random, dtype, shape, false),
                              random.tensor(dtype, right, Values::Moderate)},
                             fmt::format("{}(%a, %b{})", name, random.pick(attributes))};
          },
          256, 1e-5};
}

}  // namespace

std::vector<Row> linalg_rows() {
  return {
      of_squares("linalg.lu", ".0"),
      of_squares("linalg.inverse", ""),
      of_squares("linalg.det", ""),
      of_squares("linalg.cholesky", "", true),
      solution("linalg.solve", {""}),
      solution("linalg.triangular_solve",
               {"", ", lower=False", ", transpose_a=True", ", lower=False, transpose_a=True"}),
  };
}

}  // namespace quern::numeric
