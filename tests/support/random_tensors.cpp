#include "tests/support/random_tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "ir/value/scalar.h"

namespace quern::numeric {

int64_t Random::integer(int64_t low, int64_t high) {
  auto span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? engine_() : engine_() % span));
}

double Random::real(double low, double high) {
  return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
}

int64_t Random::extent(int64_t least) {
  int64_t kind = integer(0, 19);
  if (kind == 0) return least;
  if (kind <= 5) return pick(std::vector<int64_t>{7, 8, 15, 16, 17, 19, 31, 33});
  if (kind <= 8) return 1;
  return integer(1, 6);
}

Shape Random::shape(int64_t min_rank, int64_t max_rank, int64_t least_extent) {
  constexpr int64_t kMostElements = 300;
  while (true) {
    Shape shape(static_cast<size_t>(integer(min_rank, max_rank)));
    for (int64_t& e : shape) e = extent(least_extent);
    if (element_count(shape) <= kMostElements) return shape;
  }
}

Shape Random::broadcastable(const Shape& shape) {
  Shape result = shape;
  for (int64_t& e : result)
    if (chance(0.25)) e = 1;
  if (chance(0.3))
    result.erase(result.begin(), result.begin() + integer(0, static_cast<int64_t>(shape.size())));
  return result;
}

Scalar Random::any(DType dtype) {
  if (dtype.is_bool()) return Scalar::from_int(dtype, integer(0, 1));
  if (dtype.is_float()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static const std::vector<double> kSpecial = {0,         -0.0,       0.5,  -0.5,  1.5,  2.5,
                                                 -2.5,      1,          -1,   1e-40, 1e38, 300.0,
                                                 kInfinity, -kInfinity, -1e5, 3e9,   -1e10};
    int64_t kind = integer(0, 9);
    if (kind == 0) return Scalar::from_double(dtype, pick(kSpecial));
    if (kind == 1)
      return Scalar::from_double(dtype,
                                 chance(0.2) ? std::numeric_limits<double>::quiet_NaN() : real(-100, 100));
    return Scalar::from_double(dtype, real(-4, 4));
  }
  switch (integer(0, 9)) {
    case 0: return lowest(dtype);
    case 1: return highest(dtype);
    case 2: return Scalar::from_int(dtype, -1);
    case 3: return Scalar::from_int(dtype, integer(0, 1));
    case 4:
    case 5: return Scalar::from_int(dtype, static_cast<int64_t>(engine_()));
    default: return Scalar::from_int(dtype, integer(-20, 20));
  }
}

Scalar Random::element(DType dtype, Values values) {
  static const std::vector<double> kPowers = {-2, -1, -0.5, 0.5, 1, 2};
  static const std::vector<int64_t> kIntegerPowers = {-2, -1, 1, 2};
  bool real_valued = dtype.is_float();
  switch (values) {
    case Values::Any: return any(dtype);
    case Values::Moderate:
      return real_valued ? Scalar::from_double(dtype, real(-4, 4)) : Scalar::from_int(dtype, integer(-9, 9));
    case Values::Positive:
      return real_valued ? Scalar::from_double(dtype, real(0.1, 4)) : Scalar::from_int(dtype, integer(1, 9));
    case Values::SmallIntegers: return cast(Scalar::from_int(DType::int32(), integer(-4, 4)), dtype);
    case Values::PowersOfTwo:
      return real_valued ? Scalar::from_double(dtype, pick(kPowers))
                         : Scalar::from_int(dtype, pick(kIntegerPowers));
  }
  return any(dtype);
}

TensorPtr Random::tensor(DType dtype, Shape shape, Values values) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor->size(); ++i) {
    Scalar scalar = element(dtype, values);
    std::memcpy(tensor->data() + static_cast<size_t>(i) * dtype.bytes(), &scalar.bits, dtype.bytes());
  }
  return tensor;
}

std::vector<int64_t> Random::axes(int64_t rank, int64_t least) {
  std::vector<int64_t> all;
  for (int64_t k = 0; k < rank; ++k) all.push_back(signed_axis(k, rank));
  shuffle(all);
  all.resize(static_cast<size_t>(integer(least, rank)));
  return all;
}

std::string list_text(const std::vector<int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

std::string shape_text(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace quern::numeric
