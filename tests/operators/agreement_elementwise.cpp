#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kNumbersOfAnyWidth = {DType::float32(), DType::float32(), DType::float64(),
                                               DType::float16(), DType::int32(),   DType::int64(),
                                               DType::int8(),    DType::uint8()};
const std::vector<DType> kIntegers = {DType::int32(), DType::int64(), DType::int8(), DType::uint8()};
const std::vector<DType> kBools = {DType::boolean()};

Row unary(const std::string& name, uint64_t ulps, const std::vector<DType>& dtypes,
          Values values = Values::Any) {
  return {name,
          [=](Random& random) {
            return Arguments{{random.tensor(random.pick(dtypes), random.shape(), values)}, name + "(%a)"};
          },
          ulps};
}

/// One operand is of the result's shape, the other broadcasts to it; either may be the first.
Row binary(const std::string& name, const std::vector<DType>& dtypes, Values values = Values::Any,
           uint64_t ulps = 0) {
  return {name,
          [=](Random& random) {
            DType dtype = random.pick(dtypes);
            Shape shape = random.shape();
            TensorPtr full = random.tensor(dtype, shape, values);
            TensorPtr other = random.tensor(dtype, random.broadcastable(shape), values);
            if (random.chance(0.5)) std::swap(full, other);
            return Arguments{{full, other}, name + "(%a, %b)"};
          },
          ulps};
}

/// Counts beyond the width too, which move all bits out.
Row shift(const std::string& name) {
  return {name, [=](Random& random) {
            DType dtype = random.pick(kIntegers);
            Shape shape = random.shape();
            Values counts = random.chance(0.3) ? Values::Any : Values::Positive;
            return Arguments{{random.tensor(dtype, shape, Values::Any),
                              random.tensor(dtype, random.broadcastable(shape), counts)},
                             name + "(%a, %b)"};
          }};
}

Arguments clip(Random& random) {
  double low = random.real(-3, 1), high = random.real(-1, 3);
  return {{random.tensor(random.pick(kFloats), random.shape(), Values::Any)},
          fmt::format("clip(%a, a_min={:.3f}, a_max={:.3f})", low, high)};
}

Arguments cast(Random& random) {
  static const std::vector<DType> kAll = {DType::boolean(), DType::int8(),   DType::uint8(),
                                          DType::int32(),   DType::int64(),  DType::float16(),
                                          DType::float32(), DType::float64()};
  DType from = random.pick(kAll);
  return {{random.tensor(from, random.shape(), Values::Any)},
          fmt::format("cast(%a, dtype=\"{}\")", quern::to_string(random.pick(kAll)))};
}

Arguments where(Random& random) {
  DType dtype = random.pick(kNumbersOfAnyWidth);
  Shape shape = random.shape();
  std::vector<Shape> shapes = {shape, random.broadcastable(shape), random.broadcastable(shape)};
  random.shuffle(shapes);
  return {{random.tensor(DType::boolean(), shapes[0], Values::Any),
           random.tensor(dtype, shapes[1], Values::Any), random.tensor(dtype, shapes[2], Values::Any)},
          "where(%a, %b, %c)"};
}

}  // namespace

std::vector<Row> elementwise_rows() {
  std::vector<Row> rows;
  for (const char* name :
       {"add", "subtract", "multiply", "divide", "mod", "floor_divide", "floor_mod", "maximum", "minimum",
        "trunc_divide", "trunc_mod", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
    rows.push_back(binary(name, kNumbersOfAnyWidth));
  for (const char* name : {"logical_and", "logical_or", "logical_xor"}) rows.push_back(binary(name, kBools));
  rows.push_back(binary("power", kNumbersOfAnyWidth, Values::Positive, 2));
  rows.push_back(unary("logical_not", 0, kBools));
  rows.push_back(unary("bitwise_not", 0, kIntegers));
  for (const char* name : {"left_shift", "right_shift"}) rows.push_back(shift(name));
  for (const char* name : {"negative", "abs", "sign"}) rows.push_back(unary(name, 0, kNumbersOfAnyWidth));
  for (const char* name : {"sqrt", "floor", "ceil", "trunc", "round"})
    rows.push_back(unary(name, 0, kFloats));
  rows.push_back(unary("exp", 2, kFloats));
  rows.push_back(unary("log", 2, kFloats));
  rows.push_back(unary("tanh", 4, kFloats));
  rows.push_back(unary("sigmoid", 4, kFloats));
  rows.push_back(unary("erf", 3, kFloats));
  rows.push_back(unary("rsqrt", 1, kFloats));
  rows.push_back(unary("sin", 2, kFloats));
  rows.push_back(unary("cos", 2, kFloats));
  rows.push_back({"clip", clip});
  rows.push_back({"cast", cast});
  rows.push_back({"where", where});
  return rows;
}

}  // namespace quern::numeric
