// Images: sampling at positions, regions, parts around the centre, images of columns.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "import/node/windows.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

void grid_sample(Call& call) {
  std::string mode = call.string("mode", "bilinear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  const std::string padding = call.string("padding_mode", "zeros");
  // Coordinates are last in ONNX, and first but the batch in Relay.
  std::vector<int64_t> axes = {0, static_cast<int64_t>(call.rank(1)) - 1};
  for (int64_t i = 1; i + 1 < static_cast<int64_t>(call.rank(1)); ++i) axes.push_back(i);
  call.result(fmt::format("image.grid_sample($0, transpose($1, axes={}){}{}{}{})", list_of(axes),
                          mode == "bilinear" ? "" : string_attribute("method", mode),
                          call.rank(0) == 5 ? string_attribute("layout", "NCDHW") : "",
                          padding == "zeros" ? "" : string_attribute("padding_mode", padding),
                          call.flag("align_corners", false) ? "" : ", align_corners=False"),
              {call.in(0), call.in(1)});
}

void roi_align(Call& call) {
  const std::string transformation =
      call.string("coordinate_transformation_mode", call.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const std::string boxes =
      fmt::format("concatenate((expand_dims(cast($2, dtype=\"{}\"), axis=1), $1), axis=1)",
                  to_string(call.in(1).dtype()));
  const std::string mode = call.string("mode", "avg");
  call.result(
      fmt::format("vision.roi_align($0, {}, pooled_size=[{}, {}], spatial_scale={}, sample_ratio={}{}{})",
                  boxes, call.integer("output_height", 1), call.integer("output_width", 1),
                  float_attribute(call.number("spatial_scale", 1)), call.integer("sampling_ratio", 0),
                  mode == "avg" ? "" : string_attribute("mode", mode),
                  transformation == "half_pixel" ? ", aligned=True" : ""),
      {call.in(0), call.in(1), call.in(2)});
}

void max_roi_pool(Call& call) {
  const auto size = call.integers("pooled_shape");
  if (!size) throw Refusal("lacks its attribute `pooled_shape`");
  if (size->size() != 2 || std::ranges::min(*size) < 1)
    throw Refusal(
        fmt::format("its `pooled_shape` is {}, and not how many rows and columns a box has", list_of(*size)));
  call.result(fmt::format("vision.roi_pool($0, $1, pooled_size={}, spatial_scale={})", list_of(*size),
                          float_attribute(call.number("spatial_scale", 1))),
              {call.in(0), call.in(1)});
}

/// Extents that an input gives.
std::vector<Dim> known_sizes(Call& call, size_t input) {
  const auto sizes = dims_of(call.in(input));
  if (!sizes || std::ranges::any_of(*sizes, [](Dim dim) { return dim->has_any; }))
    call.integers_in(input);  // says what to do
  return *sizes;
}

void affine_grid(Call& call) {
  const std::vector<Dim> sizes = known_sizes(call, 1);
  if (sizes.size() != 4 && sizes.size() != 5)
    throw Refusal(fmt::format("its `size` has {} extents; images have 4 and volumes have 5", sizes.size()));
  if (call.rank(0) != 3) throw Refusal(fmt::format("has a tensor of rank {} for its matrices", call.rank(0)));
  const Dim matrices = call.in(0).extent(0);
  if (as_const(matrices) && as_const(sizes[0]) && matrices != sizes[0])
    throw Refusal(fmt::format("has {} matrices for {} images", to_string(matrices), to_string(sizes[0])));
  // Coordinates are last in ONNX, and first but the batch in the library.
  std::vector<int64_t> axes(sizes.size());
  std::iota(axes.begin() + 1, axes.end(), 2);
  axes.back() = 1;
  call.result(fmt::format("transpose(image.affine_grid($0, target_shape={}{}), axes={})",
                          list_of(std::vector<Dim>(sizes.begin() + 2, sizes.end())),
                          call.flag("align_corners", false) ? "" : ", align_corners=False", list_of(axes)),
              {call.in(0)});
}

/// Both sides of an axis lose or gain the same; of an odd number the one more is at the end.
void center_crop_pad(Call& call) {
  const Term& data = call.in(0);
  std::vector<int64_t> axes(data.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = call.integers("axes")) axes = from_front(*given, data.rank());
  const std::vector<Dim> sizes = known_sizes(call, 1);
  if (sizes.size() != axes.size()) throw Refusal("has another number of sizes than axes");
  std::vector<std::string> slices(data.rank(), ":"), pads(data.rank(), "[0, 0]");
  bool cuts = false, fills = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::ranges::count(axes, axes[i]) > 1) throw Refusal(fmt::format("has the axis {} twice", axes[i]));
    const auto axis = static_cast<size_t>(axes[i]);
    if (data.extent(axis) == sizes[i]) continue;
    const auto from = as_const(data.extent(axis)), to = as_const(sizes[i]);
    if (!from || !to || *to < 0)
      throw Refusal(fmt::format("brings axis {} from {} to {}, which have to be known and not below 0", axis,
                                to_string(data.extent(axis)), to_string(sizes[i])));
    const int64_t more = std::abs(*to - *from), before = more / 2;
    (*to < *from ? cuts : fills) = true;
    if (*to < *from)
      slices[axis] = fmt::format("{}:{}", before, before + *to);
    else
      pads[axis] = fmt::format("[{}, {}]", before, more - before);
  }
  while (!slices.empty() && slices.back() == ":") slices.pop_back();
  const std::string part = cuts ? fmt::format("$0[{}]", fmt::join(slices, ", ")) : "$0";
  if (fills)
    return call.result(
        fmt::format("nn.pad({}, {}, pad_width=[{}])", part, literal(0, data.dtype()), fmt::join(pads, ", ")),
        {data});
  if (!cuts) return call.set(0, data);
  call.result(part, {data});
}

std::vector<int64_t> known_integers(Call& call, size_t input) {
  call.in(input);
  return *call.integers_in(input);
}

/// Blocks of an image as the columns of a matrix: `Col2Im` adds them up where they overlap.
struct Blocks {
  explicit Blocks(Call& call) : image(known_integers(call, 1)), block(known_integers(call, 2)) {
    const size_t count = image.size();
    if (count == 0 || block.size() != count)
      throw Refusal(fmt::format("its image has {} axes, and its blocks have {}", count, block.size()));
    strides = entries_of(call, "strides", count, 1);
    dilations = entries_of(call, "dilations", count, 1);
    pads = entries_of(call, "pads", 2 * count, 0);
    constexpr int64_t kMost = INT32_MAX;
    for (const auto* list : {&image, &block, &strides, &dilations, &pads})
      for (int64_t entry : *list)
        if (entry < (list == &pads ? 0 : 1) || entry > kMost)
          throw Refusal(fmt::format("has {} among its extents, strides, dilations and pads", entry));
    for (size_t i = 0; i < count; ++i) {
      const int64_t reach = dilations[i] * (block[i] - 1) + 1, whole = image[i] + pads[i] + pads[count + i];
      if (reach > whole)
        throw Refusal(
            fmt::format("its blocks reach over {} elements of axis {}, which has {}", reach, i, whole));
      places.push_back((whole - reach) / strides[i] + 1);
    }
  }

  std::vector<int64_t> image, block, strides, dilations, pads, places;
};

/// Whether the product of numbers from 1 on is `total`.
bool is_product(const std::vector<int64_t>& numbers, int64_t total) {
  for (int64_t number : numbers) {
    if (total % number != 0) return false;
    total /= number;
  }
  return total == 1;
}

/// Each element is the sum over the places in a block at which it can be, of the block of which it is there.
void col2im(Call& call) {
  const Term& data = call.in(0);
  if (data.rank() != 3) throw Refusal("its input is not a batch of columns");
  const Blocks blocks(call);
  const size_t count = blocks.image.size();
  const auto extents = extents_from(data, 1, "a sum of blocks");
  if (!is_product(blocks.places, extents[1]))
    throw Refusal(fmt::format("has {} columns for {} blocks", extents[1], fmt::join(blocks.places, " by ")));
  int64_t channels = extents[0];
  for (int64_t extent : blocks.block) {
    if (channels % extent != 0)
      throw Refusal(fmt::format("has {} rows, and {} elements to a block", extents[0],
                                fmt::join(blocks.block, " by ")));
    channels /= extent;
  }
  const std::string batch = to_string(data.extent(0));
  const Term split = call.step("blocks",
                               fmt::format("reshape($0, newshape=[{}, {}, {}, {}])", batch, channels,
                                           fmt::join(blocks.block, ", "), fmt::join(blocks.places, ", ")),
                               {data});
  std::vector<std::string> elements, offsets, read = {"b", "c"}, places, conditions;
  for (size_t i = 0; i < count; ++i) {
    elements.push_back(fmt::format("i{} < {}", i, blocks.image[i]));
    offsets.push_back(fmt::format("k{} < {}", i, blocks.block[i]));
    read.push_back(fmt::format("k{}", i));
    const int64_t pad = blocks.pads[i], dilation = blocks.dilations[i], stride = blocks.strides[i];
    const std::string begin = fmt::format("i{}{} - k{}{}", i, pad == 0 ? "" : fmt::format(" + {}", pad), i,
                                          dilation == 1 ? "" : fmt::format(" * {}", dilation));
    places.push_back(stride == 1 ? begin : fmt::format("({}) / {}", begin, stride));
    if (stride != 1) conditions.push_back(fmt::format("({}) % {} == 0", begin, stride));
  }
  read.insert(read.end(), places.begin(), places.end());
  const std::string element = fmt::format("$0[{}] else 0", fmt::join(read, ", "));
  call.result(fmt::format("[b < {}, c < {}, {}] => sum[{}] {}", batch, channels, fmt::join(elements, ", "),
                          fmt::join(offsets, ", "),
                          conditions.empty()
                              ? element
                              : fmt::format("select({}, {}, 0)", fmt::join(conditions, " and "), element)),
              {split});
}

}  // namespace

std::span<const Operator> image_operators() {
  static const Operator kRows[] = {
      {"AffineGrid", "", affine_grid}, {"CenterCropPad", "", center_crop_pad}, {"Col2Im", "", col2im},
      {"GridSample", "", grid_sample}, {"MaxRoiPool", "", max_roi_pool},       {"RoiAlign", "", roi_align},
  };
  return kRows;
}

}  // namespace quern::onnx
