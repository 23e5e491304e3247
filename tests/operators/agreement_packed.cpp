// Rows of the operators that carry what TVM's passes have made of others (stdlib/packed.relay, stdlib/winograd.relay,
// stdlib/backward.relay), of sparse tensors and boxes, and of what TVM writes for its virtual machine.

#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kPackedReals = {DType::float32(), DType::float64()};

// Layouts, windows and words state extents: those are no unknowns.
const StatedExtents kPackedAll = {{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32}, {}};

TensorPtr packed_integers(Random& random, DType dtype, const Shape& shape, int64_t most) {
  TensorPtr tensor = HostTensor::make(dtype, shape);
  for (int64_t k = 0; k < tensor->size(); ++k)
    fill_element(*tensor, k, Scalar::from_int(dtype, random.integer(0, most)));
  return tensor;
}
/// Places of elements in `rows` by `columns`, each once, in row-major order, as columns and beginnings of rows.
std::pair<TensorPtr, TensorPtr> packed_compressed(Random& random, int64_t rows, int64_t columns) {
  std::vector<int32_t> kept, begins(1, 0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      if (random.chance(0.4)) kept.push_back(static_cast<int32_t>(c));
    begins.push_back(static_cast<int32_t>(kept.size()));
  }
  TensorPtr indices = HostTensor::make(DType::int32(), {static_cast<int64_t>(kept.size())});
  TensorPtr indptr = HostTensor::make(DType::int32(), {rows + 1});
  std::ranges::copy(kept, indices->elements<int32_t>().begin());
  std::ranges::copy(begins, indptr->elements<int32_t>().begin());
  return {indices, indptr};
}

Arguments packed_bitpack(Random& random) {
  const int64_t axis = random.integer(0, 1);
  Shape shape = {random.integer(1, 3), random.integer(1, 3)};
  shape[static_cast<size_t>(axis)] *= 8;
  return {{packed_integers(random, DType::int32(), shape, 7)},
          fmt::format("nn.bitpack(%a, bits={}, pack_axis={}, bit_axis={}, pack_type=\"uint8\")",
                      random.integer(1, 3), axis, random.integer(0, 2))};
}
Arguments packed_bitserial_conv2d(Random& random) {
  const bool last = random.chance(0.5), packed = random.chance(0.4);
  const int64_t channels = packed ? 8 : 2, bits = random.integer(1, 2);
  Shape data = last ? Shape{1, 4, 5, channels} : Shape{1, channels, 4, 5};
  Shape weight = last ? Shape{2, 3, channels, 4} : Shape{4, channels, 2, 3};
  if (packed) {
    weight[last ? 2 : 1] = 1;
    weight.push_back(bits);
  }
  return {
      {packed_integers(random, DType::uint8(), data, 3),
       packed_integers(random, DType::uint8(), weight, packed ? 255 : 3)},
      fmt::format(
          "nn.bitserial_conv2d(%a, %b, channels=4, kernel_size=[2, 3], padding=[1, 1], activation_bits=2, "
          "weight_bits={}, pack_dtype=\"uint8\", data_layout=\"{}\", unipolar={})",
          bits, last ? "NHWC" : "NCHW", random.chance(0.5) ? "True" : "False")};
}
Arguments packed_bitserial_dense(Random& random) {
  const bool packed = random.chance(0.5);
  const int64_t bits = random.integer(1, 2);
  return {{packed_integers(random, DType::uint8(), {random.integer(1, 3), 8}, 3),
           packed ? packed_integers(random, DType::uint8(), {3, bits, 1}, 255)
                  : packed_integers(random, DType::uint8(), {3, 8}, 3)},
          fmt::format("nn.bitserial_dense(%a, %b, units=3, data_bits=2, weight_bits={}, "
                      "pack_dtype=\"uint8\", unipolar={})",
                      bits, random.chance(0.5) ? "True" : "False")};
}
Arguments packed_dense_pack(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t columns = random.integer(1, 4);
  return {{random.tensor(dtype, {random.integer(1, 3), columns}, Values::SmallIntegers),
           random.tensor(dtype, {random.integer(1, 2), columns, 4}, Values::SmallIntegers)},
          "nn.contrib_dense_pack(%a, %b, weight_layout=\"NC4n\")"};
}
Arguments packed_quantised_dense_pack(Random& random) {
  return {{packed_integers(random, DType::uint8(), {random.integer(1, 3), 8}, 9),
           packed_integers(random, DType::int8(), {random.integer(1, 2), 2, 8, 4}, 9)},
          "qnn.contrib_dense_pack(%a, %b, 3, 2, 0.5, 0.25, weight_layout=\"NC8n4c\")"};
}
Arguments packed_sized_layout(Random& random) {
  const std::vector<std::pair<std::string, std::string>> layouts = {
      {"2o6i", "2i2o3i"}, {"3n2o4i", "4i3n2o"}, {"2i2o3i", "2o6i"}, {"4no6ci", "2no3ci2no2ci"}};
  const auto& [from, to] = random.pick(layouts);
  Shape shape = from == "2o6i"     ? Shape{2, 6}
                : from == "4no6ci" ? Shape{4, 6}
                : from == "2i2o3i" ? Shape{2, 2, 3}
                                   : Shape{3, 2, 4};
  return {{random.tensor(random.pick(kPackedReals), shape, Values::Any)},
          fmt::format("auto_scheduler_layout_transform(%a, src_layout=\"{}\", dst_layout=\"{}\")", from, to)};
}
Arguments packed_weight_transform(Random& random) {
  return {{random.tensor(random.pick(kPackedReals), {2, 3, random.integer(2, 5), random.integer(2, 5)},
                         Values::Moderate)},
          fmt::format("nn.contrib_conv2d_winograd_weight_transform(%a, tile_size={})", random.integer(2, 6))};
}
Arguments packed_weight_transform3d(Random& random) {
  return {{random.tensor(random.pick(kPackedReals), {2, 1, random.integer(1, 3), 3, 3}, Values::Moderate)},
          fmt::format("nn.contrib_conv3d_winograd_weight_transform(%a, tile_size={})", random.integer(2, 4))};
}
Arguments packed_winograd(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t tile = random.integer(2, 4);
  return {{random.tensor(dtype, {1, 2, 6, 5}, Values::Moderate),
           random.tensor(dtype, {tile + 2, tile + 2, 2, 3}, Values::Moderate)},
          fmt::format(
              "nn.contrib_conv2d_winograd_without_weight_transform(%a, %b, tile_size={}, kernel_size=[3, 3], "
              "padding=[1, 1])",
              tile)};
}
Arguments packed_winograd3d(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t tile = random.integer(2, 3), depth = random.integer(1, 3);
  Shape weight = {tile + 2, tile + 2, depth, 2, 3};
  if (depth == 3) weight[2] = tile + 2;
  return {
      {random.tensor(dtype, {1, 2, 4, 5, 4}, Values::Moderate),
       random.tensor(dtype, weight, Values::Moderate)},
      fmt::format(
          "nn.contrib_conv3d_winograd_without_weight_transform(%a, %b, tile_size={}, kernel_size=[{}, 3, 3], "
          "padding=[1, 1, 1])",
          tile, depth)};
}
Row packed_pool_grad(const std::string& name) {
  return {
      name,
      [=](Random& random) {
        const DType dtype = random.pick(kPackedReals);
        const bool last = random.chance(0.3);
        const int64_t h = random.integer(3, 6), w = random.integer(3, 6), st = random.integer(1, 2);
        const int64_t oh = (h - 2) / st + 1, ow = (w - 3 + 1) / st + 1;
        return Arguments{
            {random.tensor(dtype, last ? Shape{1, oh, ow, 2} : Shape{1, 2, oh, ow}, Values::SmallIntegers),
             random.tensor(dtype, last ? Shape{1, h, w, 2} : Shape{1, 2, h, w}, Values::Moderate)},
            fmt::format("{}(%a, %b, pool_size=[2, 3], strides=[{}, {}], padding=[0, 0, 0, 1]{})", name, st,
                        st, last ? ", layout=\"NHWC\"" : "")};
      },
      4, 0, kPackedAll};
}
Arguments packed_backward_weight(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t groups = random.integer(1, 2), st = random.integer(1, 2), h = random.integer(4, 6),
                w = random.integer(4, 6);
  return {{random.tensor(dtype, {2, 4, (h - 1) / st + 1, (w - 2) / st + 1}, Values::SmallIntegers),
           random.tensor(dtype, {2, 2, h, w}, Values::SmallIntegers)},
          fmt::format("nn.conv2d_backward_weight(%a, %b, kernel_size=[3, 2], padding=[1, 0], strides=[{}, "
                      "{}], groups={})",
                      st, st, groups)};
}
Arguments packed_sparse_add(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t rows = random.integer(1, 4), columns = random.integer(1, 5);
  auto [indices, indptr] = packed_compressed(random, rows, columns);
  return {{random.tensor(dtype, {rows, columns}, Values::Any),
           random.tensor(dtype, indices->shape(), Values::Any), indices, indptr},
          "nn.sparse_add(%a, %b, %c, %d)"};
}
Arguments packed_sparse_dense_padded(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t rows = random.integer(1, 4), columns = random.integer(1, 5);
  auto [indices, indptr] = packed_compressed(random, rows, columns);
  return {{random.tensor(dtype, {random.integer(1, 3), columns}, Values::SmallIntegers),
           random.tensor(dtype, indices->shape(), Values::SmallIntegers), indices, indptr},
          "nn.internal.sparse_dense_padded(%a, %b, %c, %d)"};
}
Arguments packed_sparse_conv2d(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t kernel = random.pick(std::vector<int64_t>{1, 3});
  auto [indices, indptr] = packed_compressed(random, 2, kernel * kernel);
  const bool last = random.chance(0.5);
  return {{random.tensor(dtype, last ? Shape{1, 4, 5, 2} : Shape{1, 2, 4, 5}, Values::SmallIntegers),
           random.tensor(dtype, {indices->size(), 3, 2}, Values::SmallIntegers), indices, indptr},
          fmt::format("nn.sparse_conv2d(%a, %b, %c, %d, kernel_size=[{0}, {0}]{1})", kernel,
                      last ? "" : ", layout=\"NCHW\"")};
}
/// Places in 4 by 3, in row-major order.
TensorPtr packed_places(Random& random) {
  auto [indices, indptr] = packed_compressed(random, 4, 3);
  TensorPtr made = HostTensor::make(DType::int32(), {indices->size(), 2});
  auto begins = indptr->elements<int32_t>();
  for (int32_t r = 0; r < 4; ++r)
    for (auto e = static_cast<size_t>(begins[r]); e < static_cast<size_t>(begins[r + 1]); ++e) {
      made->elements<int32_t>()[2 * e] = r;
      made->elements<int32_t>()[2 * e + 1] = indices->elements<int32_t>()[e];
    }
  return made;
}
Arguments packed_fill_empty_rows(Random& random) {
  TensorPtr at = packed_places(random);
  const DType dtype = random.pick(kPackedReals);
  return {{at, random.tensor(dtype, {at->shape()[0]}, Values::Any), random.tensor(dtype, {}, Values::Any)},
          fmt::format("sparse_fill_empty_rows(%a, %b, [4, 3], %c).{}", random.integer(0, 2))};
}
Arguments packed_sparse_reshape(Random& random) {
  return {{packed_places(random)},
          fmt::format("sparse_reshape(%a, [4, 3], {}).{}",
                      random.pick(std::vector<std::string>{"[2, 6]", "[-1]", "[2, -1, 3]", "[12, 1]"}),
                      random.integer(0, 1))};
}
Arguments packed_roi_pool(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t boxes = random.integer(1, 3);
  TensorPtr rois = random.tensor(dtype, {boxes, 5}, Values::Positive);
  for (int64_t b = 0; b < boxes; ++b) {
    fill_element(*rois, 5 * b, Scalar::from_int(dtype, random.integer(0, 1)));
    for (int64_t k = 1; k < 5; ++k)
      fill_element(*rois, 5 * b + k, Scalar::from_int(dtype, random.integer(k < 3 ? 0 : 3, k < 3 ? 4 : 9)));
  }
  return {{random.tensor(dtype, {2, 2, 5, 6}, Values::Moderate), rois},
          fmt::format("vision.roi_pool(%a, %b, pooled_size=[2, 3], spatial_scale={})",
                      random.chance(0.5) ? "1.0" : "0.5")};
}
Arguments packed_yolo_reorg(Random& random) {
  return {{random.tensor(random.pick(kPackedReals), {random.integer(1, 2), 8, 4, 6}, Values::Any)},
          "vision.yolo_reorg(%a, stride=2)"};
}
/// Boxes (y1, x1, y2, x2) of at least 1 by 1.
TensorPtr packed_boxes_of(Random& random, DType dtype, int64_t batch, int64_t count) {
  TensorPtr boxes = HostTensor::make(dtype, {batch, count, 4});
  for (int64_t b = 0; b < batch * count; ++b)
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t from = random.integer(0, 5);
      fill_element(*boxes, 4 * b + k, Scalar::from_int(dtype, from));
      fill_element(*boxes, 4 * b + k + 2, Scalar::from_int(dtype, from + random.integer(1, 6)));
    }
  return boxes;
}
Arguments packed_regular_nms(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t batch = random.integer(1, 2), count = random.integer(1, 6);
  return {{packed_boxes_of(random, dtype, batch, count),
           random.tensor(dtype, {batch, count, 3}, Values::Positive)},
          fmt::format(
              "vision.regular_non_max_suppression(%a, %b, max_detections_per_class={}, max_detections={}, "
              "num_classes=2, iou_threshold=0.4, score_threshold=1.0).{}",
              random.integer(1, 3), random.integer(1, 5), random.integer(0, 3))};
}
Arguments packed_proposal(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t h = random.integer(1, 3), w = random.integer(1, 3);
  return {
      {random.tensor(dtype, {1, 4, h, w}, Values::Positive),
       random.tensor(dtype, {1, 8, h, w}, Values::SmallIntegers)},
      fmt::format(
          "vision.proposal(%a, %b, [[40.0, 40.0, 1.0]], scales=[1.0, 2.0], ratios=[1.0], feature_stride=16, "
          "threshold=0.5, rpn_pre_nms_top_n={}, rpn_post_nms_top_n=4, rpn_min_size=4, iou_loss={})",
          random.integer(0, 6), random.chance(0.5) ? "True" : "False")};
}
Row packed_scattered(const std::string& name) {
  return {name,
          [=](Random& random) {
            const DType dtype = random.pick(kPackedReals);
            return Arguments{{random.tensor(dtype, {3, random.integer(1, 4)}, Values::Any),
                              packed_integers(random, DType::int32(), {2, 1}, 2),
                              random.tensor(dtype, {2, 1}, Values::Any)},
                             fmt::format("{}(%a, %b, %c, axis=0)", name)};
          },
          0, 0, kPackedAll};
}
Arguments packed_fifo_buffer(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t axis = random.integer(0, 1);
  Shape data = {random.integer(1, 3), random.integer(1, 3)}, buffer = data;
  buffer[static_cast<size_t>(axis)] += random.integer(0, 3);
  return {{random.tensor(dtype, data, Values::Any), random.tensor(dtype, buffer, Values::Any)},
          fmt::format("nn.fifo_buffer(%a, %b, axis={})", axis)};
}
Arguments packed_stft(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  const int64_t window = random.integer(2, 4);
  Shape shape = {random.integer(4, 9)};
  if (random.chance(0.5)) shape.insert(shape.begin(), 2);
  return {{random.tensor(dtype, shape, Values::Moderate), random.tensor(dtype, {window}, Values::Moderate)},
          fmt::format("stft(%a, %b, n_fft=4, hop_length={}, win_length={}, normalized={}, onesided={})",
                      random.integer(1, 3), window, random.chance(0.5) ? "True" : "False",
                      random.chance(0.5) ? "True" : "False")};
}
Arguments packed_dft(Random& random) {
  const DType dtype = random.pick(kPackedReals);
  Shape shape = random.shape(1, 3, 1);
  return {
      {random.tensor(dtype, shape, Values::Moderate), random.tensor(dtype, shape, Values::Moderate)},
      fmt::format("dft(%a, %b, inverse={}).{}", random.chance(0.5) ? "True" : "False", random.integer(0, 1))};
}
Arguments packed_reshape_tensor(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  return {{random.tensor(random.pick(kPackedReals), shape, Values::Any)},
          fmt::format("vm.reshape_tensor(%a, {})", list_text({shape.begin(), shape.end()}))};
}
Arguments packed_reverse_reshape(Random& random) {
  return {
      {random.tensor(random.pick(kPackedReals), {2, 3, 4}, Values::Any)},
      fmt::format("contrib_reverse_reshape(%a, newshape={})",
                  random.pick(std::vector<std::string>{"[-1, 0]", "[-1, 0, 0]", "[4, -1, 3]", "[3, 8]"}))};
}

}  // namespace

std::vector<Row> packed_rows() {
  return {
      {"nn.bitpack", packed_bitpack, 0, 0, kPackedAll},
      {"nn.bitserial_conv2d", packed_bitserial_conv2d, 0, 0, kPackedAll},
      {"nn.bitserial_dense", packed_bitserial_dense, 0, 0, kPackedAll},
      {"nn.contrib_dense_pack", packed_dense_pack, 4, 0, kPackedAll},
      {"qnn.contrib_dense_pack", packed_quantised_dense_pack, 0, 0, kPackedAll},
      {"auto_scheduler_layout_transform", packed_sized_layout, 0, 0, kPackedAll},
      {"nn.contrib_conv2d_winograd_weight_transform", packed_weight_transform, 64, 1e-5, kPackedAll},
      {"nn.contrib_conv3d_winograd_weight_transform", packed_weight_transform3d, 64, 1e-5, kPackedAll},
      {"nn.contrib_conv2d_winograd_without_weight_transform", packed_winograd, 256, 1e-3, kPackedAll},
      {"nn.contrib_conv3d_winograd_without_weight_transform", packed_winograd3d, 256, 1e-3, kPackedAll},
      packed_pool_grad("nn.max_pool2d_grad"),
      packed_pool_grad("nn.avg_pool2d_grad"),
      {"nn.conv2d_backward_weight", packed_backward_weight, 16, 0, kPackedAll},
      {"nn.sparse_add", packed_sparse_add, 4, 1e-6, kPackedAll},
      {"nn.internal.sparse_dense_padded", packed_sparse_dense_padded, 16, 0, kPackedAll},
      {"nn.sparse_conv2d", packed_sparse_conv2d, 16, 0, kPackedAll},
      {"sparse_fill_empty_rows", packed_fill_empty_rows, 0, 0, kPackedAll},
      {"sparse_reshape", packed_sparse_reshape, 0, 0, kPackedAll},
      {"vision.roi_pool", packed_roi_pool, 0, 0, kPackedAll},
      {"vision.yolo_reorg", packed_yolo_reorg, 0, 0, kPackedAll},
      {"vision.regular_non_max_suppression", packed_regular_nms, 0, 0, kPackedAll},
      {"vision.proposal", packed_proposal, 16, 1e-4, kPackedAll},
      packed_scattered("scatter"),
      packed_scattered("scatter_add"),
      {"nn.fifo_buffer", packed_fifo_buffer, 0, 0, kPackedAll},
      {"stft", packed_stft, 64, 1e-5, kPackedAll},
      {"dft", packed_dft, 64, 1e-4},
      {"vm.reshape_tensor", packed_reshape_tensor},
      {"contrib_reverse_reshape", packed_reverse_reshape, 0, 0, kPackedAll},
  };
}

}  // namespace quern::numeric
