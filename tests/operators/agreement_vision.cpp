// Rows of the operators that sample images and of those of detectors (stdlib/image.relay, stdlib/vision.relay).

#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kFloats32And64 = {DType::float32(), DType::float64()};

std::string one_of(Random& random, const std::string& attribute, const std::vector<std::string>& values) {
  return fmt::format(R"(, {}="{}")", attribute, random.pick(values));
}

/// Data of `rank` axes behind the batch and the channels, or with the channels last.
Shape images(Random& random, size_t rank, bool last, int64_t batch, int64_t channels) {
  Shape shape = {batch};
  for (size_t k = 0; k < rank; ++k) shape.push_back(random.integer(1, 6));
  shape.insert(last ? shape.end() : shape.begin() + 1, channels);
  return shape;
}

/// An operator of resizing along `rank` axes.
Row resize(const std::string& name, size_t rank, const std::string& layout_last) {
  return {name,
          [=](Random& random) {
            bool last = random.chance(0.3);
            std::vector<int64_t> size;
            for (size_t k = 0; k < rank; ++k) size.push_back(random.integer(0, 7));
            std::string text = ", size=" + list_text(size);
            if (last) text += fmt::format(R"(, layout="{}")", layout_last);
            text += one_of(random, "method", {"linear", "cubic", "nearest_neighbor"});
            text += one_of(random, "coordinate_transformation_mode",
                           {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"});
            return Arguments{{random.tensor(random.pick(kFloats32And64), images(random, rank, last, 1, 2),
                                            Values::Moderate)},
                             fmt::format("{}(%a{})", name, text)};
          },
          4, 4e-6};
}

Arguments resample(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> axes = random.axes(rank, 1), size;
  std::string scales;
  for (size_t k = 0; k < axes.size(); ++k) {
    size.push_back(random.integer(1, 7));
    scales += fmt::format("{}[{}, {}]", k ? ", " : "", random.integer(1, 9), random.integer(1, 9));
  }
  return {{random.tensor(random.pick(kFloats32And64), shape, Values::Moderate)},
          fmt::format("image.resample(%a, size={}, axes={}{}{}{})", list_text(size), list_text(axes),
                      one_of(random, "method", {"linear", "cubic", "nearest_neighbor"}),
                      one_of(random, "coordinate_transformation_mode",
                             {"half_pixel", "align_corners", "half_pixel_symmetric"}),
                      random.chance(0.3) ? fmt::format(", scales=[{}]", scales) : "")};
}

Arguments grid_sample(Random& random) {
  DType dtype = random.pick(kFloats32And64);
  size_t rank = random.chance(0.3) ? 3 : 2;
  int64_t batch = random.integer(1, 2);
  Shape grid = images(random, rank, false, batch, static_cast<int64_t>(rank));
  std::string text = one_of(random, "method", {"bilinear", "nearest", "bicubic"}) +
                     one_of(random, "padding_mode", {"zeros", "border", "reflection"});
  if (rank == 3) text += R"(, layout="NCDHW")";
  if (random.chance(0.5)) text += ", align_corners=False";
  return {{random.tensor(dtype, images(random, rank, false, batch, random.integer(1, 2)), Values::Moderate),
           random.tensor(dtype, grid, Values::Moderate)},
          fmt::format("image.grid_sample(%a, %b{})", text)};
}

Arguments affine_grid(Random& random) {
  std::vector<int64_t> target;
  for (int64_t k = random.integer(1, 3); k > 0; --k) target.push_back(random.integer(1, 5));
  auto d = static_cast<int64_t>(target.size());
  return {{random.tensor(random.pick(kFloats32And64), {random.integer(1, 2), d, d + 1}, Values::Moderate)},
          fmt::format("image.affine_grid(%a, target_shape={}{})", list_text(target),
                      random.chance(0.5) ? ", align_corners=False" : "")};
}

/// Numbers of images for boxes, as integers or in the first column of `count` rows of floats.
TensorPtr image_numbers(Random& random, int64_t count, int64_t batch) {
  TensorPtr made = HostTensor::make(DType::int32(), {count});
  for (int32_t& number : made->elements<int32_t>())
    number = static_cast<int32_t>(random.integer(0, batch - 1));
  return made;
}
TensorPtr numbered_boxes(Random& random, int64_t count, int64_t batch) {
  TensorPtr made = random.tensor(DType::float32(), {count, 5}, Values::Moderate);
  for (int64_t k = 0; k < count; ++k)
    made->elements<float>()[static_cast<size_t>(5 * k)] = static_cast<float>(random.integer(0, batch - 1));
  return made;
}

Arguments crop_and_resize(Random& random) {
  bool last = random.chance(0.3);
  int64_t batch = random.integer(1, 2), boxes = random.integer(0, 4);
  std::string text = fmt::format(", crop_size=[{}, {}]", random.integer(1, 4), random.integer(1, 4)) +
                     one_of(random, "method", {"bilinear", "nearest_neighbor"});
  if (last) text += R"(, layout="NHWC")";
  if (random.chance(0.5)) text += ", extrapolation_value=2.5";
  return {
      {random.tensor(DType::float32(), images(random, 2, last, batch, 2), Values::Moderate),
       random.tensor(DType::float32(), {boxes, 4}, Values::Positive), image_numbers(random, boxes, batch)},
      fmt::format("image.crop_and_resize(%a, %b, %c{})", text)};
}

Arguments roi_align(Random& random) {
  bool last = random.chance(0.3);
  int64_t batch = random.integer(1, 2), ratio = random.integer(-1, 3);
  std::string text =
      fmt::format(", pooled_size=[{}, {}], spatial_scale={}, sample_ratio={}", random.integer(1, 3),
                  random.integer(1, 3), random.chance(0.5) ? "1.0" : "0.5", ratio);
  if (last) text += R"(, layout="NHWC")";
  if (ratio > 0 && random.chance(0.3)) text += R"(, mode="max")";
  if (random.chance(0.4)) text += ", aligned=True";
  return {{random.tensor(DType::float32(), images(random, 2, last, batch, 2), Values::Moderate),
           numbered_boxes(random, random.integer(0, 4), batch)},
          fmt::format("vision.roi_align(%a, %b{})", text)};
}

Arguments multibox_prior(Random& random) {
  return {
      {random.tensor(DType::float32(), images(random, 2, false, 1, 2), Values::Moderate)},
      random.pick(std::vector<std::string>{
          "vision.multibox_prior(%a)", "vision.multibox_prior(%a, sizes=[0.5, 0.25], ratios=[1.0, 2.0, 0.5])",
          "vision.multibox_prior(%a, sizes=[0.9], steps=[0.5, 0.25], offsets=[0.0, 1.0], clip=True)"})};
}

Arguments multibox_transform_loc(Random& random) {
  int64_t batch = random.integer(1, 2), classes = random.integer(2, 4), boxes = random.integer(0, 6);
  return {{random.tensor(DType::float32(), {batch, classes, boxes}, Values::Moderate),
           random.tensor(DType::float32(), {batch, 4 * boxes}, Values::Moderate),
           random.tensor(DType::float32(), {1, boxes, 4}, Values::Moderate)},
          fmt::format("vision.multibox_transform_loc(%a, %b, %c{}).{}",
                      random.chance(0.5) ? ", threshold=0.5, clip=False" : "", random.integer(0, 1))};
}

Arguments dilation2d(Random& random) {
  bool last = random.chance(0.3);
  int64_t channels = random.integer(1, 3);
  Shape weight = {random.integer(1, 2), random.integer(1, 2)};
  weight.insert(last ? weight.end() : weight.begin(), channels);
  std::string text = fmt::format(", strides=[{}, {}], padding=[1], dilations=[{}]", random.integer(1, 2),
                                 random.integer(1, 2), random.integer(1, 2));
  if (last) text += R"(, data_layout="NHWC", kernel_layout="HWI")";
  DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64(), DType::int32()});
  return {{random.tensor(dtype, images(random, 2, last, 1, channels), Values::Moderate),
           random.tensor(dtype, weight, Values::Moderate)},
          fmt::format("image.dilation2d(%a, %b{})", text)};
}

}  // namespace

std::vector<Row> vision_rows() {
  // Neighbours of both signs may cancel.
  return {
      resize("image.resize1d", 1, "NWC"),
      resize("image.resize3d", 3, "NDHWC"),
      {"image.resample", resample, 4, 4e-6},
      {"image.grid_sample", grid_sample, 8, 2e-5, {{2, 3}, {}}},
      {"image.affine_grid", affine_grid, 4, 4e-6, {{2, 3, 4}, {}}},
      {"image.crop_and_resize", crop_and_resize, 8, 1e-5, {{4}, {}}},
      {"image.dilation2d", dilation2d},
      {"vision.roi_align", roi_align, 8, 1e-5, {{5}, {}}},
      {"vision.multibox_prior", multibox_prior, 4, 1e-6},
      {"vision.multibox_transform_loc", multibox_transform_loc, 8, 1e-5, {{4}, {4}}},
  };
}

}  // namespace quern::numeric
