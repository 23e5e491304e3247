#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kPooledNumbers = {DType::float32(), DType::float32(), DType::float64(),
                                           DType::float16(), DType::int32()};

Arguments relu(Random& random) {
  return {{random.tensor(random.pick(kPooledNumbers), random.shape(), Values::Any)}, "nn.relu(%a)"};
}

Arguments leaky_relu(Random& random) {
  std::string alpha = random.chance(0.5) ? "" : fmt::format(", alpha={:.2f}", random.real(0, 1));
  return {{random.tensor(random.pick(kFloats), random.shape(), Values::Any)},
          "nn.leaky_relu(%a" + alpha + ")"};
}

/// Now and then other integers than the data's.
DType weight_dtype(Random& random, DType data) {
  return data == DType::int32() && random.chance(0.5)
             ? random.pick(std::vector<DType>{DType::int8(), DType::uint8()})
             : data;
}

Arguments dense(Random& random) {
  DType dtype = random.pick(kPooledNumbers);
  Shape data = random.shape(1, 4);
  Shape weight = {random.extent(), data.back()};
  std::string units = random.chance(0.3) ? fmt::format(", units={}", weight[0]) : "";
  return {{random.tensor(dtype, data, Values::SmallIntegers),
           random.tensor(weight_dtype(random, dtype), weight, Values::SmallIntegers)},
          "nn.dense(%a, %b" + units + ")"};
}

Arguments bias_add(Random& random) {
  DType dtype = random.pick(kPooledNumbers);
  Shape data = random.shape(1, 4);
  auto rank = static_cast<int64_t>(data.size());
  int64_t axis = random.integer(0, rank - 1);
  return {{random.tensor(dtype, data, Values::Any),
           random.tensor(dtype, {data[static_cast<size_t>(axis)]}, Values::Any)},
          fmt::format("nn.bias_add(%a, %b, axis={})", random.signed_axis(axis, rank))};
}

/// Windows over one axis: attributes and an extent that at least one of them fits into.
struct Windows {
  int64_t size, stride, dilation, before, after, extent;
};

Windows windows(Random& random, int64_t max_before) {
  Windows w{};
  w.size = random.integer(1, 3);
  w.stride = random.integer(1, 3);
  w.dilation = random.integer(1, 2);
  w.before = random.integer(0, max_before);
  w.after = random.integer(0, max_before);
  int64_t span = (w.size - 1) * w.dilation + 1;
  w.extent = std::max<int64_t>(1, span - w.before - w.after) + random.integer(0, 9);
  return w;
}

/// Attributes that windows over height and width share. Padding has 1, 2 or 4 entries; fewer mean fewer to
/// draw.
std::string window_attributes(Random& random, Windows& h, Windows& w) {
  std::string text =
      fmt::format(", strides=[{}, {}], dilation=[{}, {}]", h.stride, w.stride, h.dilation, w.dilation);
  switch (random.integer(0, 3)) {
    case 0: h.before = h.after = w.before = w.after = 1; return text + ", padding=[1]";
    case 1:
      h.after = h.before;
      w.after = w.before;
      h.extent += 3;
      w.extent += 3;
      return text + fmt::format(", padding=[{}, {}]", h.before, w.before);
    default: return text + fmt::format(", padding=[{}, {}, {}, {}]", h.before, w.before, h.after, w.after);
  }
}

Arguments conv2d(Random& random) {
  DType dtype = random.pick(kPooledNumbers);
  int64_t groups = random.chance(0.5) ? 1 : random.integer(2, 3), ci = random.integer(1, 3),
          m = random.integer(1, 4);
  // Enough for several groups in the lanes of a tile.
  if (random.chance(0.1)) groups = random.integer(4, 9), ci = random.integer(2, 5), m = random.integer(2, 6);
  Windows h = windows(random, 2), w = windows(random, 2);
  std::string text = window_attributes(random, h, w);
  h.extent += 2;
  w.extent += 2;
  if (groups > 1) text += fmt::format(", groups={}", groups);
  if (random.chance(0.2))
    text += fmt::format(", channels={}, kernel_size=[{}, {}]", groups * m, h.size, w.size);
  int64_t batch = random.chance(0.1) ? 0 : random.integer(1, 2);
  return {
      {random.tensor(dtype, {batch, groups * ci, h.extent, w.extent}, Values::SmallIntegers),
       random.tensor(weight_dtype(random, dtype), {groups * m, ci, h.size, w.size}, Values::SmallIntegers)},
      "nn.conv2d(%a, %b" + text + ")"};
}

Arguments max_pool2d(Random& random) {
  Windows h = windows(random, 1), w = windows(random, 1);
  std::string text = fmt::format(", pool_size=[{}, {}]", h.size, w.size) + window_attributes(random, h, w);
  if (random.chance(0.4)) text += ", ceil_mode=True";
  int64_t batch = random.chance(0.1) ? 0 : random.integer(1, 2);
  return {{random.tensor(random.pick(kPooledNumbers),
                         {batch, random.integer(1, 3), h.extent + 2, w.extent + 2}, Values::Any)},
          "nn.max_pool2d(%a" + text + ")"};
}

Row softmax(const std::string& name, uint64_t ulps, double absolute) {
  return {name,
          [=](Random& random) {
            Shape shape = random.shape(1, 4);
            auto rank = static_cast<int64_t>(shape.size());
            return Arguments{{random.tensor(random.pick(kFloats), shape, Values::Moderate)},
                             fmt::format("{}(%a, axis={})", name, random.integer(-rank, rank - 1))};
          },
          ulps, absolute};
}

Arguments batch_flatten(Random& random) {
  return {{random.tensor(random.pick(kPooledNumbers), random.shape(1, 4), Values::Any)},
          "nn.batch_flatten(%a)"};
}

}  // namespace

std::vector<Row> nn_rows() {
  return {
      {"nn.relu", relu},
      {"nn.leaky_relu", leaky_relu},
      {"nn.dense", dense},
      {"nn.bias_add", bias_add},
      {"nn.conv2d", conv2d},
      {"nn.max_pool2d", max_pool2d},
      {"nn.batch_flatten", batch_flatten},
      // Sums of exponentials in another order; the logarithm of a sum near 1 cancels.
      softmax("nn.softmax", 12, 0),
      softmax("nn.log_softmax", 12, 1e-6),
  };
}

}  // namespace quern::numeric
