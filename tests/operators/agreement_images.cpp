#include <fmt/format.h>
#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kImageNumbers = {DType::float32(), DType::float32(), DType::float64(),
                                          DType::int32()};

/// The extents of volumes as they lie in a layout.
Shape volume(bool channels_last, int64_t n, int64_t c, const Shape& extents) {
  Shape shape = {n};
  if (!channels_last) shape.push_back(c);
  shape.insert(shape.end(), extents.begin(), extents.end());
  if (channels_last) shape.push_back(c);
  return shape;
}

/// Windows along depth, height and width: attributes, and extents that at least one of them fits into.
struct VolumeWindows {
  Shape sizes, extents;
  std::string attributes;
};

VolumeWindows volume_windows(Random& random, int64_t max_pad) {
  VolumeWindows w;
  std::vector<int64_t> strides, dilation, padding;
  for (int axis = 0; axis < 3; ++axis) {
    w.sizes.push_back(random.integer(1, 2));
    strides.push_back(random.integer(1, 2));
    dilation.push_back(random.integer(1, 2));
    w.extents.push_back((w.sizes.back() - 1) * dilation.back() + random.integer(1, 3));
  }
  switch (random.integer(0, 2)) {
    case 0: padding = {random.integer(0, max_pad)}; break;
    case 1: padding = {random.integer(0, max_pad), 0, random.integer(0, max_pad)}; break;
    default: padding = {0, random.integer(0, max_pad), 0, random.integer(0, max_pad), 0, 0}; break;
  }
  w.attributes = fmt::format(", strides={}, dilation={}, padding={}", list_text(strides), list_text(dilation),
                             list_text(padding));
  return w;
}

Arguments conv3d(Random& random) {
  DType dtype = random.pick(kImageNumbers);
  bool last = random.chance(0.3);
  int64_t groups = random.integer(1, 2), ci = random.integer(1, 2), m = random.integer(1, 2);
  VolumeWindows w = volume_windows(random, 2);
  std::string text = w.attributes;
  if (groups > 1) text += ", groups=2";
  if (random.chance(0.3)) text += R"(, out_dtype="float64")";
  Shape weight = {groups * m, ci};
  if (last) {
    text += R"(, data_layout="NDHWC", kernel_layout="DHWIO")";
    weight = {ci, groups * m};
  }
  weight.insert(last ? weight.begin() : weight.end(), w.sizes.begin(), w.sizes.end());
  return {{random.tensor(dtype, volume(last, random.chance(0.1) ? 0 : 1, groups * ci, w.extents),
                         Values::SmallIntegers),
           random.tensor(dtype, weight, Values::SmallIntegers)},
          "nn.conv3d(%a, %b" + text + ")"};
}

/// A transposed convolution along `rank` axes, now and then of many channels.
Row transposed(const std::string& name, size_t rank) {
  return {name, [=](Random& random) {
            bool plain = random.chance(0.5), many = rank < 3 && random.chance(0.1);
            int64_t groups = random.integer(1, 2), ci = many ? random.integer(8, 16) : random.integer(1, 2);
            Shape data = {random.chance(0.1) ? 0 : 1, groups * ci};
            Shape weight = {groups * ci, many ? random.integer(3, 16) : random.integer(1, 2)};
            std::vector<int64_t> strides, dilation, padding, more;
            for (size_t axis = 0; axis < rank; ++axis) {
              data.push_back(random.integer(1, 3));
              weight.push_back(random.integer(plain ? 1 : 2, 3));
              strides.push_back(random.integer(1, 3));
              dilation.push_back(plain ? 1 : random.integer(1, 2));
              padding.push_back(random.integer(0, std::min<int64_t>(1, weight.back() - 1)));
              more.push_back(random.integer(0, strides.back() - 1));
            }
            return Arguments{{random.tensor(DType::float32(), data, Values::SmallIntegers),
                              random.tensor(DType::float32(), weight, Values::SmallIntegers)},
                             fmt::format("{}(%a, %b, strides={}, dilation={}, padding={}, output_padding={}, "
                                         "groups={})",
                                         name, list_text(strides), list_text(dilation), list_text(padding),
                                         list_text(more), groups)};
          }};
}

Row pool3d(const std::string& name, Values values) {
  return {name, [=](Random& random) {
            bool last = random.chance(0.3);
            VolumeWindows w = volume_windows(random, 1);
            std::string text = fmt::format(", pool_size={}", list_text(w.sizes)) + w.attributes;
            if (last) text += R"(, layout="NDHWC")";
            if (random.chance(0.4)) text += ", ceil_mode=True";
            if (name == "nn.avg_pool3d" && random.chance(0.5)) text += ", count_include_pad=True";
            Shape shape = volume(last, random.chance(0.1) ? 0 : 1, random.integer(1, 2), w.extents);
            return Arguments{{random.tensor(random.pick(kImageNumbers), shape, values)},
                             name + "(%a" + text + ")"};
          }};
}

Arguments channel_shuffle(Random& random) {
  int64_t groups = random.integer(1, 4);
  Shape shape = random.shape(0, 2);
  shape.insert(shape.begin(), {random.integer(0, 2), groups * random.integer(0, 3)});
  return {{random.tensor(random.pick(kImageNumbers), shape, Values::Any)},
          fmt::format("nn.channel_shuffle(%a, groups={})", groups)};
}

Arguments resize2d(Random& random) {
  bool last = random.chance(0.3);
  Shape shape = volume(last, random.integer(0, 2), random.integer(1, 2),
                       {random.extent(1) % 10 + 1, random.integer(1, 7)});
  std::string text = fmt::format(", size=[{}, {}]", random.integer(0, 9), random.integer(1, 9));
  const std::vector<const char*> modes = {"",           "half_pixel",         "align_corners",
                                          "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"};
  const std::vector<const char*> roundings = {"",      "round", "round_prefer_floor", "round_prefer_ceil",
                                              "floor", "ceil"};
  const char *mode = random.pick(modes), *rounding = random.pick(roundings);
  if (*mode != '\0') text += fmt::format(R"(, coordinate_transformation_mode="{}")", mode);
  if (last) text += R"(, layout="NHWC")";
  if (random.chance(0.3)) text += R"(, out_dtype="float64")";
  switch (random.integer(0, 2)) {
    case 0: text += fmt::format(R"(, method="nearest_neighbor", rounding_method="{}")", rounding); break;
    case 1: text += fmt::format(R"(, method="cubic", cubic_exclude={})", random.integer(0, 1)); break;
    default: break;
  }
  return {{random.tensor(random.pick(kImageNumbers), shape, Values::Moderate)},
          "image.resize2d(%a" + text + ")"};
}

}  // namespace

std::vector<Row> image_rows() {
  return {
      {"nn.conv3d", conv3d},
      transposed("nn.conv3d_transpose", 3),
      transposed("nn.conv2d_transpose", 2),
      transposed("nn.conv1d_transpose", 1),
      pool3d("nn.max_pool3d", Values::Any),
      pool3d("nn.avg_pool3d", Values::SmallIntegers),
      {"nn.channel_shuffle", channel_shuffle},
      // Neighbours of both signs may cancel.
      {"image.resize2d", resize2d, 4, 4e-6},
  };
}

}  // namespace quern::numeric
