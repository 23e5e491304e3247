// Rows of the norms of groups, of the pools along one axis and the adaptive ones, and of what spreads
// elements in space.

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kSpaceNumbers = {DType::float32(), DType::float32(), DType::float64(),
                                          DType::int32()};

Arguments group_norm(Random& random) {
  int64_t groups = random.integer(1, 3), channels = groups * random.integer(1, 3);
  Shape shape = {random.integer(1, 3), channels, random.integer(2, 5)};
  if (random.chance(0.5)) shape.push_back(random.integer(1, 4));
  return {{random.tensor(DType::float32(), shape, Values::Moderate),
           random.tensor(DType::float32(), {channels}, Values::Moderate),
           random.tensor(DType::float32(), {channels}, Values::Moderate)},
          fmt::format("nn.group_norm(%a, %b, %c, num_groups={}, epsilon=0.1{})", groups,
                      random.chance(0.3) ? ", center=False" : "")};
}

Arguments rms_norm(Random& random) {
  Shape shape = random.shape(1, 4, 1);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.chance(0.6) ? rank - 1 : random.integer(0, rank - 1);
  return {{random.tensor(DType::float32(), shape, Values::Moderate),
           random.tensor(DType::float32(), {shape[static_cast<size_t>(axis)]}, Values::Moderate)},
          fmt::format("nn.rms_norm(%a, %b, axis={}, epsilon=0.1)", random.signed_axis(axis, rank))};
}

Row pool1d(const std::string& name, Values values) {
  return {name, [=](Random& random) {
            bool last = random.chance(0.3);
            int64_t size = random.integer(1, 3), dilation = random.integer(1, 2), c = random.integer(1, 3);
            int64_t w = (size - 1) * dilation + random.integer(1, 6);
            std::string text = fmt::format(", pool_size=[{}], strides=[{}], dilation=[{}], padding=[{}]",
                                           size, random.integer(1, 3), dilation, random.integer(0, size / 2));
            if (last) text += R"(, layout="NWC")";
            if (random.chance(0.4)) text += ", ceil_mode=True";
            if (name == "nn.avg_pool1d" && random.chance(0.5)) text += ", count_include_pad=True";
            int64_t n = random.chance(0.1) ? 0 : random.integer(1, 2);
            return Arguments{
                {random.tensor(random.pick(kSpaceNumbers), last ? Shape{n, w, c} : Shape{n, c, w}, values)},
                name + "(%a" + text + ")"};
          }};
}

Row adaptive(const std::string& name, size_t rank) {
  return {name,
          [=](Random& random) {
            Shape shape = {random.integer(1, 2), random.integer(1, 2)};
            std::vector<int64_t> size;
            for (size_t axis = 0; axis < rank; ++axis) {
              shape.push_back(random.integer(1, rank == 1 ? 12 : 5));
              size.push_back(random.integer(1, 4));
            }
            return Arguments{{random.tensor(DType::float32(), shape, Values::SmallIntegers)},
                             random.chance(0.1)
                                 ? name + "(%a)"
                                 : fmt::format("{}(%a, output_size={})", name, list_text(size))};
          },
          1};
}

Arguments max_pool_indices(Random& random) {
  Shape shape = {random.integer(0, 2), random.integer(1, 2)};
  auto rank = static_cast<size_t>(random.integer(1, 3));
  std::vector<int64_t> size, strides, padding;
  for (size_t axis = 0; axis < rank; ++axis) {
    shape.push_back(random.integer(3, rank == 1 ? 20 : 6));
    size.push_back(random.integer(1, 3));
    strides.push_back(random.integer(1, 3));
    padding.push_back(random.integer(0, 2));
  }
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::SmallIntegers)},
          fmt::format("nn.max_pool_indices(%a, pool_size={}, strides={}, padding={}{})", list_text(size),
                      list_text(strides), list_text(padding), random.chance(0.4) ? ", ceil_mode=True" : "")};
}

Arguments upsampling3d(Random& random) {
  bool last = random.chance(0.3);
  Shape shape = {random.integer(0, 2), random.integer(1, 2), random.integer(1, 3), random.integer(1, 3),
                 random.integer(1, 3)};
  std::string text = random.chance(0.5) ? "" : ", coordinate_transformation_mode=\"asymmetric\"";
  if (random.chance(0.5)) {
    if (random.chance(0.3)) text = ", coordinate_transformation_mode=\"align_corners\"";
    text += ", method=\"trilinear\"";
  }
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::Moderate)},
          fmt::format("nn.upsampling3d(%a, scale_d={}f, scale_h={}f, scale_w={}f{}{})", random.integer(1, 3),
                      random.integer(1, 3), random.integer(1, 3), text, last ? R"(, layout="NDHWC")" : "")};
}

/// Pairs for each axis from `low` to `high` entries.
std::string pairs(Random& random, size_t axes, int64_t low, int64_t high) {
  std::string text;
  for (size_t k = 0; k < axes; ++k)
    text +=
        fmt::format("{}[{}, {}]", k == 0 ? "" : ", ", random.integer(low, high), random.integer(low, high));
  return "[" + text + "]";
}

Arguments mirror_pad(Random& random) {
  Shape shape = random.shape(0, 3, 3);
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::Any)},
          fmt::format("nn.mirror_pad(%a, pad_width={}{})", pairs(random, shape.size(), 0, 2),
                      random.chance(0.5) ? R"(, mode="REFLECT")" : "")};
}

Arguments space_to_batch(Random& random) {
  auto m = static_cast<size_t>(random.integer(1, 2));
  Shape shape = {random.integer(0, 3)};
  std::vector<int64_t> blocks;
  std::string paddings;
  for (size_t k = 0; k < m; ++k) {
    int64_t block = random.integer(1, 3), before = random.integer(0, 2), extent = random.integer(1, 5);
    int64_t behind = (block - (before + extent) % block) % block;
    blocks.push_back(block);
    shape.push_back(extent);
    paddings += fmt::format("{}[{}, {}]", k == 0 ? "" : ", ", before, behind);
  }
  if (random.chance(0.6)) shape.push_back(random.integer(1, 3));
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::Any)},
          fmt::format("nn.space_to_batch_nd(%a, block_shape={}, paddings=[{}]{})", list_text(blocks),
                      paddings, random.chance(0.4) ? ", pad_value=2.0" : "")};
}

Arguments batch_to_space(Random& random) {
  auto m = static_cast<size_t>(random.integer(1, 2));
  Shape shape = {random.integer(0, 2)};
  std::vector<int64_t> blocks;
  for (size_t k = 0; k < m; ++k) {
    blocks.push_back(random.integer(1, 3));
    shape[0] *= blocks.back();
    shape.push_back(random.integer(2, 4));
  }
  if (random.chance(0.6)) shape.push_back(random.integer(1, 3));
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::Any)},
          fmt::format("nn.batch_to_space_nd(%a, block_shape={}, crops={})", list_text(blocks),
                      pairs(random, m, 0, 1))};
}

Arguments dilate(Random& random) {
  Shape shape = random.shape(0, 3);
  std::vector<int64_t> strides;
  for (size_t k = 0; k < shape.size(); ++k) strides.push_back(random.integer(1, 3));
  return {{random.tensor(random.pick(kSpaceNumbers), shape, Values::Any)},
          fmt::format("nn.dilate(%a, strides={}{})", list_text(strides),
                      random.chance(0.4) ? ", dilation_value=2.0" : "")};
}

}  // namespace

std::vector<Row> space_rows() {
  return {
      {"nn.group_norm", group_norm, 64, 1e-5},
      {"nn.rms_norm", rms_norm, 64, 1e-5},
      pool1d("nn.max_pool1d", Values::Any),
      pool1d("nn.avg_pool1d", Values::SmallIntegers),
      {"nn.max_pool_indices", max_pool_indices},
      adaptive("nn.adaptive_avg_pool1d", 1),
      adaptive("nn.adaptive_max_pool1d", 1),
      adaptive("nn.adaptive_avg_pool3d", 3),
      adaptive("nn.adaptive_max_pool3d", 3),
      // Neighbours of both signs may cancel.
      {"nn.upsampling3d", upsampling3d, 4, 4e-6},
      {"nn.mirror_pad", mirror_pad},
      {"nn.space_to_batch_nd", space_to_batch},
      {"nn.batch_to_space_nd", batch_to_space},
      {"nn.dilate", dilate},
  };
}

}  // namespace quern::numeric
