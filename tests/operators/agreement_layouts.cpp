// Rows of blocked layouts, displaced convolutions (stdlib/layout.relay) and sparse matrices (stdlib/sparse.relay).

#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kLaidOut = {DType::float32(), DType::float32(), DType::float64(), DType::int8()};
const std::vector<DType> kReals = {DType::float32(), DType::float64()};

TensorPtr positions(Random& random, const Shape& shape, int64_t extent) {
  TensorPtr made = HostTensor::make(DType::int32(), shape);
  for (int32_t& x : made->elements<int32_t>()) x = static_cast<int32_t>(random.integer(0, extent - 1));
  return made;
}

Arguments layout_transform(Random& random) {
  const std::vector<std::pair<std::string, std::string>> plain = {
      {"NCHW", "NHWC"}, {"NCHW", "NCHW4c"}, {"NHWC", "NCHW2c"}, {"OIHW", "OIHW2i4o"}, {"OIHW", "IOHW4i3o2i"}};
  if (random.chance(0.7)) {
    auto [from, to] = random.pick(plain);
    return {{random.tensor(random.pick(kLaidOut), random.shape(4, 4), Values::Any)},
            fmt::format("layout_transform(%a, src_layout=\"{}\", dst_layout=\"{}\")", from, to)};
  }
  int64_t block = random.integer(1, 4);
  Shape shape = random.shape(3, 3);
  shape.push_back(block);
  return {{random.tensor(random.pick(kLaidOut), shape, Values::Any)},
          fmt::format("layout_transform(%a, src_layout=\"NCW{}c\", dst_layout=\"{}\")", block,
                      random.chance(0.5) ? "NCW" : "NWC2c")};
}

std::string moves(Random& random) {
  return fmt::format(", strides=[{}, {}], padding=[{}, {}]", random.integer(1, 2), random.integer(1, 2),
                     random.integer(0, 2), random.integer(0, 1));
}
Row blocked_conv2d() {
  return {
      "nn.contrib_conv2d_NCHWc",
      [](Random& random) {
        DType dtype = random.pick(kReals);
        int64_t chunks = random.integer(1, 3), block = random.integer(1, 4), groups = random.integer(1, 2);
        Shape weight = {groups * random.integer(1, 2), chunks, random.integer(1, 3),
                        random.integer(1, 3),          block,  random.integer(1, 4)};
        return Arguments{{random.tensor(dtype,
                                        {random.integer(1, 2), groups * chunks, random.integer(3, 6),
                                         random.integer(3, 6), block},
                                        Values::SmallIntegers),
                          random.tensor(dtype, weight, Values::SmallIntegers)},
                         fmt::format("nn.contrib_conv2d_NCHWc(%a, %b, groups={}{})", groups, moves(random))};
      },
      16};
}
Row blocked_depthwise() {
  return {"nn.contrib_depthwise_conv2d_NCHWc",
          [](Random& random) {
            DType dtype = random.pick(kReals);
            int64_t chunks = random.integer(1, 3), block = random.integer(1, 4);
            return Arguments{
                {random.tensor(dtype, {1, chunks, random.integer(3, 6), random.integer(3, 6), block},
                               Values::SmallIntegers),
                 random.tensor(dtype, {chunks, 1, random.integer(1, 3), random.integer(1, 3), 1, block},
                               Values::SmallIntegers)},
                fmt::format("nn.contrib_depthwise_conv2d_NCHWc(%a, %b, groups={}{})", chunks * block,
                            moves(random))};
          },
          16};
}
Row deformable() {
  return {
      "nn.deformable_conv2d",
      [](Random& random) {
        DType dtype = random.pick(kReals);
        int64_t fields = random.integer(1, 2), channels = 2 * random.integer(1, 2);
        int64_t kh = random.integer(1, 3), kw = random.integer(1, 2), h = random.integer(3, 5),
                w = random.integer(3, 5);
        return Arguments{
            {random.tensor(dtype, {1, channels, h, w}, Values::Moderate),
             random.tensor(dtype, {1, fields * kh * kw * 2, h + 3 - kh, w + 3 - kw}, Values::Moderate),
             random.tensor(dtype, {random.integer(1, 3), channels, kh, kw}, Values::Moderate)},
            fmt::format("nn.deformable_conv2d(%a, %b, %c, padding=[1, 1], deformable_groups={})", fields)};
      },
      64, 1e-5};
}
Row correlation() {
  return {
      "nn.correlation",
      [](Random& random) {
        DType dtype = random.pick(kReals);
        Shape shape = {random.integer(1, 2), random.integer(1, 3), random.integer(4, 6),
                       random.integer(4, 6)};
        int64_t most = random.integer(0, 3);
        return Arguments{
            {random.tensor(dtype, shape, Values::Moderate), random.tensor(dtype, shape, Values::Moderate)},
            fmt::format("nn.correlation(%a, %b, kernel_size={}, max_displacement={}, stride1={}, "
                        "stride2={}, padding=[{}, {}], is_multiply={})",
                        random.pick(std::vector<int64_t>{1, 3}), most, random.integer(1, 2),
                        random.integer(1, 2), most, most, random.chance(0.5) ? "True" : "False")};
      },
      64, 1e-5};
}

Arguments sparse_to_dense(Random& random) {
  DType dtype = random.pick(kLaidOut);
  int64_t count = random.integer(0, 6);
  TensorPtr values = random.tensor(dtype, random.chance(0.7) ? Shape{count} : Shape{}, Values::Any);
  TensorPtr outside = random.tensor(dtype, {}, Values::Any);
  if (random.chance(0.5))
    return {{positions(random, {count}, 5), values, outside},
            "sparse_to_dense(%a, %b, %c, output_shape=[5])"};
  return {{positions(random, {count, 2}, 3), values, outside},
          "sparse_to_dense(%a, %b, %c, output_shape=[4, 3])"};
}
/// Rows of random lengths that have `count` elements.
TensorPtr beginnings(Random& random, int64_t rows, int64_t count) {
  TensorPtr made = positions(random, {rows + 1}, count + 1);
  auto begins = made->elements<int32_t>();
  begins[0] = 0;
  begins[static_cast<size_t>(rows)] = static_cast<int32_t>(count);
  std::sort(begins.begin(), begins.end());
  return made;
}
Row sparse_dense() {
  return {
      "nn.sparse_dense",
      [](Random& random) {
        DType dtype = random.pick(kReals);
        int64_t count = random.integer(0, 6), rows = random.integer(1, 4), columns = random.integer(1, 5);
        bool blocks = random.chance(0.5);
        return Arguments{
            {random.tensor(dtype, {random.extent(), columns * (blocks ? 3 : 1)}, Values::SmallIntegers),
             random.tensor(dtype, blocks ? Shape{count, 2, 3} : Shape{count}, Values::SmallIntegers),
             positions(random, {count}, columns), beginnings(random, rows, count)},
            fmt::format("nn.sparse_dense(%a, %b, %c, %d{})", random.chance(0.4) ? ", sparse_lhs=True" : "")};
      },
      16};
}
Arguments sparse_transpose(Random& random) {
  int64_t side = random.integer(1, 5), count = random.integer(0, 6);
  return {{random.tensor(random.pick(kReals), {count}, Values::Any), positions(random, {count}, side),
           beginnings(random, side, count)},
          fmt::format("nn.sparse_transpose(%a, %b, %c).{}", random.integer(0, 2))};
}

}  // namespace

std::vector<Row> layout_rows() {
  return {
      {"layout_transform", layout_transform},
      blocked_conv2d(),
      blocked_depthwise(),
      deformable(),
      correlation(),
      {"sparse_to_dense", sparse_to_dense},
      sparse_dense(),
      {"nn.sparse_transpose", sparse_transpose},
  };
}

}  // namespace quern::numeric
