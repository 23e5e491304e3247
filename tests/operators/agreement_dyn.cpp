// Rows of the operators whose sizes are tensors (stdlib/dyn.relay, stdlib/dyn_images.relay). The sizes are lists in the call:
// over unknown dims their length would be one.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kDynNumbers = {DType::float32(), DType::float32(), DType::float64(), DType::int32()};

std::string dyn_sizes(Random& random, const std::vector<int64_t>& list) {
  return fmt::format("[{}]", fmt::join(list, random.chance(0.5) ? "i64, " : ", "));
}

Row dyn_filled(const std::string& name, const std::string& attribute) {
  return {
      name, [=](Random& random) {
        return Arguments{{}, fmt::format("{}({}{})", name, dyn_sizes(random, random.shape(1, 4)), attribute)};
      }};
}
Arguments dyn_full(Random& random) {
  return {{random.tensor(random.pick(kDynNumbers), {}, Values::Any)},
          fmt::format("dyn.full(%a, {}{})", dyn_sizes(random, random.shape(1, 4)),
                      random.chance(0.3) ? ", dtype=\"float64\"" : "")};
}
Arguments dyn_broadcast_to(Random& random) {
  Shape shape = random.shape(1, 4);
  return {{random.tensor(random.pick(kDynNumbers), random.broadcastable(shape), Values::Any)},
          fmt::format("dyn.broadcast_to(%a, {})", dyn_sizes(random, shape))};
}
Arguments dyn_reshape(Random& random) {
  Shape shape = random.shape(1, 4, 1);
  std::vector<int64_t> entries;
  bool left = random.chance(0.5);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (k + 1 < shape.size() && random.chance(0.2)) {
      entries.push_back(-3);
      ++k;
    } else if (random.chance(0.3)) {
      entries.push_back(0);
    } else if (left) {
      entries.push_back(-1);
      left = false;
    } else {
      entries.push_back(shape[k]);
    }
  }
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.reshape(%a, {})", dyn_sizes(random, entries))};
}
Arguments dyn_squeeze(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  std::vector<int64_t> axes;
  for (int64_t count = random.integer(1, 2); count > 0; --count) {
    const int64_t at = random.integer(0, static_cast<int64_t>(shape.size()));
    for (int64_t& axis : axes) axis += axis >= at;
    shape.insert(shape.begin() + at, 1);
    axes.push_back(at);
  }
  for (int64_t& axis : axes) axis = random.signed_axis(axis, static_cast<int64_t>(shape.size()));
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.squeeze(%a, {})", dyn_sizes(random, axes))};
}
Arguments dyn_expand_dims(Random& random) {
  Shape shape = random.shape(0, 3);
  const auto rank = static_cast<int64_t>(shape.size());
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.expand_dims(%a, {}, num_newaxis={})", random.integer(-rank - 1, rank),
                      random.integer(1, 2))};
}
Arguments dyn_tile(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  std::vector<int64_t> times;
  for (int64_t count = random.integer(1, 4); count > 0; --count) times.push_back(random.integer(0, 3));
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.tile(%a, {})", dyn_sizes(random, times))};
}
Arguments dyn_strided_slice(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  std::vector<int64_t> begin, end, strides;
  const bool counts = random.chance(0.3);
  for (int64_t k = 0, count = random.integer(1, static_cast<int64_t>(shape.size())); k < count; ++k) {
    const int64_t extent = shape[static_cast<size_t>(k)];
    begin.push_back(random.integer(counts ? 0 : -extent - 2, counts ? extent : extent + 2));
    end.push_back(random.integer(counts ? -1 : -extent - 2, extent + 2));
    strides.push_back(random.pick(std::vector<int64_t>{1, 2, 3, -1, -2}));
  }
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.strided_slice(%a, {}, {}, {}{})", list_text(begin), list_text(end),
                      list_text(strides), counts ? ", slice_mode=\"size\"" : "")};
}
Arguments dyn_sliced(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  const int64_t extent = shape[0], step = random.pick(std::vector<int64_t>{1, 2, -1});
  const int64_t from = random.integer(0, extent - 1);
  const int64_t most = step > 0 ? (extent - 1 - from) / step + 1 : from + 1;
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.sliced(%a, [{}], [{}], [{}])", from, step, random.integer(0, most))};
}
Arguments dyn_one_hot(Random& random) {
  Shape shape = random.shape(0, 3);
  const auto rank = static_cast<int64_t>(shape.size());
  return {
      {random.tensor(DType::int32(), shape, Values::SmallIntegers)},
      fmt::format("dyn.one_hot(%a, 3f, 0.5f, {}, axis={})", random.integer(0, 5), random.integer(-1, rank))};
}
Arguments dyn_topk(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  const auto rank = static_cast<int64_t>(shape.size());
  const std::string kind = random.pick(std::vector<std::string>{"both", "values", "indices"});
  return {{random.tensor(random.pick(kDynNumbers), shape, Values::Any)},
          fmt::format("dyn.topk(%a, {}, axis={}, ret_type=\"{}\"{}){}", random.integer(0, 5),
                      random.signed_axis(random.integer(0, rank - 1), rank), kind,
                      random.chance(0.5) ? ", is_ascend=True" : "", kind == "both" ? ".0" : "")};
}
Arguments dyn_sparse_to_dense(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  const int64_t count = random.integer(0, 4);
  TensorPtr places = HostTensor::make(DType::int32(), {count, static_cast<int64_t>(shape.size())});
  size_t at = 0;
  for (int32_t& place : places->elements<int32_t>())
    place = static_cast<int32_t>(random.integer(0, shape[at++ % shape.size()] - 1));
  const DType dtype = random.pick(kDynNumbers);
  return {
      {places, random.tensor(dtype, {count}, Values::Any), random.tensor(dtype, {}, Values::Any)},
      fmt::format("dyn.sparse_to_dense(%a, %b, %c, {})", dyn_sizes(random, shape)),
  };
}
Arguments dyn_pad(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  const std::string mode = random.pick(std::vector<std::string>{"constant", "edge", "reflect"});
  std::string width;
  for (int64_t extent : shape) {
    const int64_t most = mode == "reflect" ? std::min<int64_t>(extent - 1, 3) : 3;
    width += fmt::format("{}[{}, {}]", width.empty() ? "" : ", ", random.integer(0, most),
                         random.integer(0, most));
  }
  const DType dtype = random.pick(kDynNumbers);
  return {{random.tensor(dtype, shape, Values::Any), random.tensor(dtype, {}, Values::Any)},
          fmt::format("dyn.nn.pad(%a, [{}], %b, pad_mode=\"{}\")", width, mode)};
}
const std::vector<DType> kDynReals = {DType::float32(), DType::float64()};

Arguments dyn_resize2d(Random& random) {
  const std::string method = random.pick(std::vector<std::string>{"linear", "cubic", "nearest_neighbor"});
  const std::string mode = random.pick(
      std::vector<std::string>{"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"});
  Shape shape = {1, 2, random.integer(1, 6), random.integer(1, 6)};
  return {
      {random.tensor(random.pick(kDynReals), shape, Values::Moderate)},
      fmt::format("dyn.image.resize2d(%a, {}, [0.0], method=\"{}\", coordinate_transformation_mode=\"{}\")",
                  dyn_sizes(random, {random.integer(0, 7), random.integer(1, 7)}), method, mode)};
}
std::string dyn_scale(Random& random) {
  return random.pick(std::vector<std::string>{"1.0", "2.0", "1.5", "0.5"});
}
Arguments dyn_upsampling(Random& random) {
  const bool last = random.chance(0.3);
  Shape shape = {1, random.integer(1, 4), random.integer(1, 4), random.integer(1, 4)};
  return {
      {random.tensor(random.pick(kDynReals), shape, Values::Moderate)},
      fmt::format("dyn.nn.upsampling(%a, {}, {}, method=\"{}\"{}{})", dyn_scale(random), dyn_scale(random),
                  random.pick(std::vector<std::string>{"nearest_neighbor", "bilinear", "bicubic"}),
                  last ? ", layout=\"NHWC\"" : "", random.chance(0.5) ? ", align_corners=True" : "")};
}
Arguments dyn_upsampling3d(Random& random) {
  Shape shape = {1, 2, random.integer(1, 3), random.integer(1, 3), random.integer(1, 3)};
  return {{random.tensor(random.pick(kDynReals), shape, Values::Moderate)},
          fmt::format("dyn.nn.upsampling3d(%a, {}, {}, {}{})", dyn_scale(random), dyn_scale(random),
                      dyn_scale(random), random.chance(0.5) ? ", method=\"trilinear\"" : "")};
}

}  // namespace

std::vector<Row> dyn_rows() {
  return {
      dyn_filled("dyn.zeros", ""),
      dyn_filled("dyn.ones", ", dtype=\"int32\""),
      {"dyn.full", dyn_full},
      {"dyn.broadcast_to", dyn_broadcast_to},
      {"dyn.reshape", dyn_reshape},
      {"dyn.squeeze", dyn_squeeze},
      {"dyn.expand_dims", dyn_expand_dims},
      {"dyn.tile", dyn_tile},
      {"dyn.strided_slice", dyn_strided_slice},
      {"dyn.sliced", dyn_sliced},
      {"dyn.one_hot", dyn_one_hot},
      {"dyn.topk", dyn_topk},
      {"dyn.sparse_to_dense", dyn_sparse_to_dense},
      {"dyn.nn.pad", dyn_pad},
      {"dyn.image.resize2d", dyn_resize2d, 4, 4e-6},
      {"dyn.nn.upsampling", dyn_upsampling, 4, 4e-6},
      {"dyn.nn.upsampling3d", dyn_upsampling3d, 4, 4e-6},
  };
}

}  // namespace quern::numeric
