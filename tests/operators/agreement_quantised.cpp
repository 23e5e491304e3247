// Rows of quantised arithmetic (stdlib/qnn.relay, stdlib/qnn_products.relay).

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kBytes = {DType::int8(), DType::uint8()};
const std::vector<std::string> kTargets = {"int8", "uint8", "int32"};
const std::vector<std::string> kRoundings = {"UPWARD", "TONEAREST", "TOEVEN"};

TensorPtr bytes(Random& random, const Shape& shape) {
  return random.tensor(random.pick(kBytes), shape, Values::Any);
}
TensorPtr scale(Random& random, const Shape& shape = {}) {
  TensorPtr made = HostTensor::make(DType::float32(), shape);
  for (float& x : made->elements<float>()) x = static_cast<float>(random.real(0.01, 0.5));
  return made;
}
TensorPtr whole_numbers(Random& random, const Shape& shape, int64_t low = -9, int64_t high = 9) {
  TensorPtr made = HostTensor::make(DType::int32(), shape);
  for (int32_t& x : made->elements<int32_t>()) x = static_cast<int32_t>(random.integer(low, high));
  return made;
}

/// A scale, a zero point and the attribute that says along which axis of the data they are.
struct Parameters {
  TensorPtr scale, zero_point;
  std::string axis;
};
Parameters parameters(Random& random, const Shape& data) {
  if (data.empty() || random.chance(0.4)) return {scale(random), whole_numbers(random, {}), ""};
  auto rank = static_cast<int64_t>(data.size());
  int64_t axis = random.integer(0, rank - 1);
  Shape shape = {data[static_cast<size_t>(axis)]};
  return {scale(random, shape), whole_numbers(random, random.chance(0.5) ? shape : Shape{}),
          fmt::format(", axis={}", random.signed_axis(axis, rank))};
}

Arguments to_integers(Random& random) {
  Shape shape = random.shape();
  Parameters p = parameters(random, shape);
  return {{random.tensor(random.pick(kFloats), shape, Values::Moderate), p.scale, p.zero_point},
          fmt::format("qnn.quantize(%a, %b, %c{}, out_dtype=\"{}\", rounding=\"{}\")", p.axis,
                      random.pick(kTargets), random.pick(kRoundings))};
}
Arguments from_integers(Random& random) {
  Shape shape = random.shape();
  Parameters p = parameters(random, shape);
  return {{bytes(random, shape), p.scale, p.zero_point},
          fmt::format("qnn.dequantize(%a, %b, %c{}{})", p.axis,
                      random.chance(0.3) ? ", out_dtype=\"float16\"" : "")};
}
Arguments to_other_integers(Random& random) {
  Shape shape = random.shape();
  Parameters p = parameters(random, shape);
  TensorPtr data = random.chance(0.5) ? whole_numbers(random, shape, -3000, 3000) : bytes(random, shape);
  return {{data, p.scale, p.zero_point},
          fmt::format(
              "qnn.requantize(%a, %b, %c, 0.3, 4{}, out_dtype=\"{}\", rounding=\"{}\", compute_dtype=\"{}\")",
              p.axis, random.pick(kTargets), random.pick(kRoundings),
              random.pick(std::vector<std::string>{"None", "int64", "float32", "float64"}))};
}
Row simulated(const std::string& name) {
  return {name,
          [=](Random& random) {
            Shape shape = random.shape();
            Parameters p = parameters(random, shape);
            return Arguments{
                {random.tensor(DType::float32(), shape, Values::Moderate), p.scale, p.zero_point},
                fmt::format("{}(%a, {}, %b, %c{})", name, random.integer(0, 3), p.axis)};
          },
          2};
}
Arguments quantised_dynamic_quantize(Random& random) {
  return {{random.tensor(DType::float32(), random.shape(1, 4, 1), Values::Moderate)},
          fmt::format("qnn.dynamic_quantize(%a).{}", random.integer(0, 2))};
}

Arguments quantised_fixed_point(Random& random) {
  return {{scale(random, random.shape())}, fmt::format("qnn.fixed_point(%a).{}", random.integer(0, 1))};
}
Arguments quantised_fixed_point_multiply(Random& random) {
  return {{whole_numbers(random, random.shape(), -9999, 9999)},
          fmt::format("fixed_point_multiply(%a, multiplier={}, shift={})",
                      random.integer(1 << 30, 2147483647), random.integer(-31, 31))};
}
Arguments quantised_fixed_point_multiply_per_axis(Random& random) {
  Shape shape = random.shape(1, 4), factors;
  std::vector<int64_t> axes = random.axes(static_cast<int64_t>(shape.size()));
  auto rank = static_cast<int64_t>(shape.size());
  for (int64_t axis : axes) factors.push_back(shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  return {{whole_numbers(random, shape, -9999, 9999), whole_numbers(random, factors, 1 << 30, 2147483647),
           whole_numbers(random, factors, 0, 5), whole_numbers(random, factors, 0, 12)},
          fmt::format("fixed_point_multiply_per_axis(%a, %b, %c, %d, is_lshift_required={}, "
                      "is_rshift_required=True, axes={})",
                      random.chance(0.5) ? "True" : "False", list_text(axes))};
}

Row quantised_pair(const std::string& name) {
  return {name, [=](Random& random) {
            Shape shape = random.shape(), other = random.broadcastable(shape);
            DType dtype = random.pick(kBytes);
            TensorPtr a = random.tensor(dtype, shape, Values::Any);
            TensorPtr b = random.tensor(dtype, other, Values::Any);
            if (random.chance(0.5)) std::swap(a, b);
            return Arguments{
                {a, b, scale(random), whole_numbers(random, {}), scale(random), whole_numbers(random, {})},
                fmt::format("{}(%a, %b, %c, %d, %e, %f, 0.3, 5)", name)};
          }};
}
Arguments quantised_concatenate(Random& random) {
  Shape shape = random.shape(1, 3), other = shape;
  int64_t axis = random.integer(0, static_cast<int64_t>(shape.size()) - 1);
  other[static_cast<size_t>(axis)] = random.integer(0, 5);
  DType dtype = random.pick(kBytes);
  return {{random.tensor(dtype, shape, Values::Any), random.tensor(dtype, other, Values::Any), scale(random),
           scale(random)},
          fmt::format("qnn.concatenate((%a, %b), (%c, %d), (3, -4), 0.3, 5, axis={})", axis)};
}
Row quantised_unary(const std::string& name, const std::string& more = "", int64_t least_rank = 0) {
  return {name, [=](Random& random) {
            return Arguments{
                {bytes(random, random.shape(least_rank, 4)), scale(random), whole_numbers(random, {})},
                fmt::format("{}(%a, %b, %c, 0.037, 11{})", name, more)};
          }};
}

Arguments quantised_dense(Random& random) {
  int64_t depth = random.extent(), outputs = random.extent();
  Shape data = random.shape(0, 2);
  data.push_back(depth);
  return {{bytes(random, data), bytes(random, {outputs, depth}), whole_numbers(random, {}),
           whole_numbers(random, random.chance(0.5) ? Shape{outputs} : Shape{})},
          "qnn.dense(%a, %b, %c, %d, 0.5, 0.25)"};
}
Arguments quantised_batch_matmul(Random& random) {
  int64_t batch = random.extent(), depth = random.extent(), rows = random.extent(), columns = random.extent();
  bool a = random.chance(0.5), b = random.chance(0.5);
  auto flag = [](bool on) { return on ? "True" : "False"; };
  return {{bytes(random, a ? Shape{batch, depth, rows} : Shape{batch, rows, depth}),
           bytes(random, b ? Shape{batch, columns, depth} : Shape{batch, depth, columns}),
           whole_numbers(random, {}), whole_numbers(random, {})},
          fmt::format("qnn.batch_matmul(%a, %b, %c, %d, 0.5, 0.25, transpose_a={}, transpose_b={})", flag(a),
                      flag(b))};
}

std::string windows_of_pixels(Random& random) {
  return fmt::format(", strides=[{}, {}], padding=[{}, {}]", random.integer(1, 2), random.integer(1, 3),
                     random.integer(0, 2), random.integer(0, 1));
}
Arguments quantised_conv2d(Random& random) {
  int64_t groups = random.integer(1, 2), inputs = random.integer(1, 5),
          outputs = groups * random.integer(1, 5);
  int64_t kh = random.integer(1, 3), kw = random.integer(1, 3), h = random.integer(3, 8),
          w = random.integer(3, 8);
  bool last = random.chance(0.4);
  Shape data = {random.integer(1, 2), groups * inputs, h, w}, weight = {outputs, inputs, kh, kw};
  if (last) data = {data[0], h, w, data[1]}, weight = {kh, kw, inputs, outputs};
  std::string text = windows_of_pixels(random);
  if (groups > 1) text += ", groups=2";
  if (last) text += ", data_layout=\"NHWC\", kernel_layout=\"HWIO\"";
  if (random.chance(0.5)) text += fmt::format(", kernel_size=[{}, {}]", kh, kw);
  return {{bytes(random, data), bytes(random, weight), whole_numbers(random, {}),
           whole_numbers(random, random.chance(0.5) ? Shape{outputs} : Shape{})},
          "qnn.conv2d(%a, %b, %c, %d, 0.5, 0.25" + text + ")"};
}
Arguments quantised_conv2d_transpose(Random& random) {
  int64_t inputs = random.integer(1, 4);
  return {{bytes(random, {random.integer(1, 2), inputs, random.integer(2, 5), random.integer(2, 5)}),
           bytes(random, {inputs, random.integer(1, 4), random.integer(2, 3), random.integer(2, 3)}),
           whole_numbers(random, {}), whole_numbers(random, {})},
          fmt::format("qnn.conv2d_transpose(%a, %b, %c, %d, 0.5, 0.25, strides=[{}, {}])",
                      random.integer(1, 2), random.integer(1, 3))};
}
Arguments quantised_avg_pool2d(Random& random) {
  return {{bytes(random,
                 {random.integer(1, 2), random.integer(3, 6), random.integer(3, 6), random.integer(1, 9)}),
           scale(random), whole_numbers(random, {})},
          fmt::format("qnn.avg_pool2d(%a, %b, %c, 0.3, 5, pool_size=[3, 2], dilation=[1, 1], "
                      "count_include_pad={}{})",
                      random.chance(0.5) ? "True" : "False", windows_of_pixels(random))};
}

}  // namespace

std::vector<Row> quantised_rows() {
  std::vector<Row> rows = {
      {"qnn.quantize", to_integers},
      {"qnn.dequantize", from_integers},
      {"qnn.requantize", to_other_integers},
      simulated("qnn.simulated_quantize"),
      simulated("qnn.simulated_dequantize"),
      {"qnn.dynamic_quantize", quantised_dynamic_quantize},
      {"qnn.fixed_point", quantised_fixed_point},
      {"fixed_point_multiply", quantised_fixed_point_multiply},
      {"fixed_point_multiply_per_axis", quantised_fixed_point_multiply_per_axis},
      quantised_pair("qnn.add"),
      quantised_pair("qnn.subtract"),
      quantised_pair("qnn.mul"),
      {"qnn.concatenate", quantised_concatenate},
      quantised_unary("qnn.leaky_relu", ", alpha=0.3"),
      quantised_unary("qnn.softmax", "", 1),
      {"qnn.dense", quantised_dense},
      {"qnn.batch_matmul", quantised_batch_matmul},
      {"qnn.conv2d", quantised_conv2d},
      {"qnn.conv2d_transpose", quantised_conv2d_transpose},
      {"qnn.avg_pool2d", quantised_avg_pool2d},
  };
  for (auto name : {"tanh", "exp", "sqrt", "rsqrt", "erf", "sigmoid", "hardswish", "log", "abs"})
    rows.push_back(quantised_unary(fmt::format("qnn.{}", name)));
  return rows;
}

}  // namespace quern::numeric
