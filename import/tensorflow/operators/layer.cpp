// Convolutions, pools, norms. TensorFlow's data have their channels last unless `data_format` says otherwise, and kernels their
// filters last.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/node/windows.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;
using onnx::Windows;
using Numbers = std::vector<int64_t>;

/// Where data have their channels, and the names of layouts.
struct Layout {
  bool is_last;
  size_t count;  ///< of spatial axes

  size_t first() const { return is_last ? 1 : 2; }
  size_t channels() const { return is_last ? count + 1 : 1; }
  std::string data() const {
    const std::string axes = count == 3 ? "DHW" : "HW";
    return is_last ? "N" + axes + "C" : "NC" + axes;
  }
  /// `, layout="NHWC"`, or nothing for what is the default.
  std::string attribute(std::string_view name) const {
    return is_last ? fmt::format(", {}=\"{}\"", name, data()) : "";
  }
};

Layout layout_of(Call& call, size_t count) {
  const std::string format = call.string("data_format", count == 3 ? "NDHWC" : "NHWC");
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW")
    throw Refusal(fmt::format("its `data_format` is `{}`", format));
  const Layout layout{format.ends_with('C'), count};
  if (call.rank(0) != count + 2) throw Refusal(fmt::format("its data have not {} axes", count + 2));
  return layout;
}

/// The entries of spatial axes; those of the batch and of the channels have to be 1.
Numbers spatial(const Numbers& list, const Layout& layout, std::string_view what) {
  if (list.size() != layout.count + 2)
    throw Refusal(fmt::format("its {} are not for {} axes", what, layout.count + 2));
  if (list[0] != 1 || list[layout.channels()] != 1)
    throw Refusal(fmt::format("its {} reach over the batch or the channels", what));
  const auto begin = list.begin() + static_cast<ptrdiff_t>(layout.first());
  return {begin, begin + static_cast<ptrdiff_t>(layout.count)};
}

Numbers listed(Call& call, std::string_view name, const Layout& layout) {
  return spatial(call.integers(name).value_or(Numbers(layout.count + 2, 1)), layout,
                 fmt::format("`{}`", name));
}

/// As much as the windows lack to one for each step of the strides, half of it on each side and the odd one behind
/// (tensorflow/core/framework/common_shape_fns.cc, `GetWindowedOutputSizeVerbose`).
void pad_to_same(Windows& windows, const std::vector<std::optional<int64_t>>& extents) {
  for (size_t i = 0; i < windows.count; ++i) {
    const int64_t reach = (windows.kernel[i] - 1) * windows.dilations[i] + 1, stride = windows.strides[i];
    if (!extents[i] && stride != 1)
      throw Refusal("padding `SAME` with strides needs known extents: give them with `--shape`");
    // With a stride of 1 any extent lacks the same.
    const int64_t extent = extents[i].value_or(reach), places = (extent + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(0, (places - 1) * stride + reach - extent);
    windows.begins[i] = total / 2;
    windows.ends[i] = total - total / 2;
  }
}

void pad(Call& call, const Layout& layout, Windows& windows,
         const std::vector<std::optional<int64_t>>& extents) {
  windows.begins.assign(windows.count, 0);
  windows.ends.assign(windows.count, 0);
  const std::string padding = call.string("padding", "VALID");
  if (padding == "SAME") return pad_to_same(windows, extents);
  if (padding == "VALID") return;
  if (padding != "EXPLICIT") throw Refusal(fmt::format("its `padding` is `{}`", padding));
  const Numbers pads = call.integers("explicit_paddings").value_or(Numbers());
  if (pads.size() != 2 * (layout.count + 2))
    throw Refusal(fmt::format("its `explicit_paddings` are not for {} axes", layout.count + 2));
  for (size_t i = 0; i < windows.count; ++i) {
    windows.begins[i] = pads[2 * (layout.first() + i)];
    windows.ends[i] = pads[2 * (layout.first() + i) + 1];
  }
}

Windows windows_of(Call& call, const Layout& layout, Numbers kernel, Numbers strides, const Term& data) {
  Windows windows{
      layout.count, std::move(kernel), std::move(strides), listed(call, "dilations", layout), {}, {}};
  for (const auto* list : {&windows.kernel, &windows.strides, &windows.dilations})
    if (std::ranges::any_of(*list, [](int64_t number) { return number < 1; }))
      throw Refusal("an extent, a stride or a dilation of its windows is below 1");
  std::vector<std::optional<int64_t>> extents;
  for (size_t i = 0; i < layout.count; ++i) extents.push_back(as_const(data.extent(layout.first() + i)));
  pad(call, layout, windows, extents);
  return windows;
}

Numbers extents_of(const Term& term, size_t count) {
  Numbers extents = onnx::extents_from(term, 0, "a kernel");
  if (extents.size() != count + 2) throw Refusal(fmt::format("its kernel has not {} axes", count + 2));
  return extents;
}

void convolve(Call& call, size_t count) {
  const Layout layout = layout_of(call, count);
  const Numbers kernel = extents_of(call.in(1), count);
  const Windows windows = windows_of(call, layout, Numbers(kernel.begin(), kernel.end() - 2),
                                     listed(call, "strides", layout), call.in(0));
  const auto channels = as_const(call.in(0).extent(layout.channels()));
  const int64_t groups = channels && kernel[count] > 0 ? *channels / kernel[count] : 1;
  call.result(fmt::format("nn.conv{}d($0, $1{}{}{}, kernel_layout=\"{}\")", count, windows.attributes(),
                          groups > 1 ? fmt::format(", groups={}", groups) : "",
                          layout.attribute("data_layout"), count == 3 ? "DHWIO" : "HWIO"),
              {call.in(0), call.in(1)});
}

void convolution(Call& call) { convolve(call, 2); }
void convolution_3d(Call& call) { convolve(call, 3); }

/// Each channel has filters of its own, the last axis of the kernel.
void depthwise_convolution(Call& call) {
  const Layout layout = layout_of(call, 2);
  const Numbers kernel = extents_of(call.in(1), 2);
  const Windows windows =
      windows_of(call, layout, {kernel[0], kernel[1]}, listed(call, "strides", layout), call.in(0));
  const std::string weight = kernel[3] == 1 ? "$1"
                                            : fmt::format("reshape($1, newshape=[{}, {}, {}, 1])", kernel[0],
                                                          kernel[1], kernel[2] * kernel[3]);
  call.result(fmt::format("nn.conv2d($0, {}{}, groups={}{}, kernel_layout=\"HWOI\")", weight,
                          windows.attributes(), kernel[2], layout.attribute("data_layout")),
              {call.in(0), call.in(1)});
}

/// The gradient of a convolution for its data, whose extents the first input says.
void transposed_convolution(Call& call) {
  const auto wanted = dims_of(call.in(0));
  if (!wanted || wanted->size() != 4) call.integers_in(0);  // says what to do
  const std::string format = call.string("data_format", "NHWC");
  const Layout layout{format.ends_with('C'), 2};
  const Term& data = call.in(2);
  const Numbers kernel = extents_of(call.in(1), 2);
  if (!wanted || wanted->size() != 4 || data.rank() != 4) throw Refusal("its data have not 4 axes");
  Windows windows{
      2, {kernel[0], kernel[1]}, listed(call, "strides", layout), listed(call, "dilations", layout), {}, {}};
  std::vector<std::optional<int64_t>> extents;
  for (size_t i = 0; i < 2; ++i) extents.push_back(as_const((*wanted)[layout.first() + i]));
  if (!extents[0] || !extents[1]) throw Refusal("the height and width of its result have to be known");
  pad(call, layout, windows, extents);
  const Numbers own = onnx::extents_from(data, layout.first(), "a transposed convolution");
  Numbers added;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t whole =
        windows.strides[i] * (own[i] - 1) + (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    added.push_back(*extents[i] - (whole - windows.begins[i] - windows.ends[i]));
    if (added.back() < 0 || added.back() >= windows.strides[i])
      throw Refusal("its result has another size than its data, strides and padding give");
  }
  const bool adds = added != Numbers{0, 0};
  const std::string text =
      fmt::format("nn.conv2d_transpose({}, transpose($1, axes=[3, 2, 0, 1]){}{})",
                  layout.is_last ? "transpose($0, axes=[0, 3, 1, 2])" : "$0", windows.attributes(),
                  adds ? fmt::format(", output_padding=[{}, {}]", added[0], added[1]) : "");
  call.result(layout.is_last ? fmt::format("transpose({}, axes=[0, 2, 3, 1])", text) : text,
              {data, call.in(1)});
}

void bias_add(Call& call) {
  const size_t rank = call.rank(0);
  const bool is_last = call.string("data_format", "NHWC").ends_with('C');
  const size_t axis = is_last ? rank - 1 : 1;
  call.result(axis == 1 ? "nn.bias_add($0, $1)" : fmt::format("nn.bias_add($0, $1, axis={})", axis),
              {call.in(0), call.in(1)});
}

void pool(Call& call, std::string_view kind, size_t count, const Numbers& kernel, const Numbers& strides) {
  const Layout layout = layout_of(call, count);
  const Windows windows = windows_of(call, layout, spatial(kernel, layout, "windows"),
                                     spatial(strides, layout, "strides"), call.in(0));
  // Without strides a reader would expect those of PyTorch, the kernel's extents.
  const bool is_dense = windows.strides == Numbers(count, 1);
  call.result(fmt::format("nn.{}_pool{}d($0, pool_size={}{}{}{})", kind, count, list_of(windows.kernel),
                          is_dense ? ", strides=" + list_of(windows.strides) : "", windows.attributes(),
                          layout.attribute("layout")),
              {call.in(0)});
}

template <const char* kKind, size_t kCount>
void pool_by_attributes(Call& call) {
  pool(call, kKind, kCount, call.integers("ksize").value_or(Numbers()),
       call.integers("strides").value_or(Numbers()));
}
constexpr char kMax[] = "max", kAvg[] = "avg";

void pool_by_inputs(Call& call) {
  pool(call, "max", 2, call.integers_in(1).value_or(Numbers()), call.integers_in(2).value_or(Numbers()));
}

void batch_norm(Call& call) {
  const Term& data = call.in(0);
  const bool is_last = call.string("data_format", "NHWC").ends_with('C');
  const size_t axis = is_last ? data.rank() - 1 : 1;
  for (size_t i = 1; i < call.output_count(); ++i)
    if (call.wants(i)) throw Refusal("gives the batch's mean and variance, which only training asks for");
  Term mean, variance;
  if (call.flag("is_training", true)) {
    const std::string others = fmt::format("axis=[{}], exclude=True", axis);
    mean = call.step("mean", fmt::format("mean($0, {})", others), {data});
    variance = call.step("var", fmt::format("variance($0, mean($0, {}, keepdims=True), {})", others, others),
                         {data});
  } else {
    mean = call.in(3);
    variance = call.in(4);
  }
  call.result(fmt::format("nn.batch_norm($0, $1, $2, $3, $4{}, epsilon={}).0",
                          axis == 1 ? "" : fmt::format(", axis={}", axis),
                          float_attribute(call.number("epsilon", 1e-4))),
              {data, call.in(1), call.in(2), mean, variance});
}

/// Of `with_layers`.
void layer_norm(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", -1, data.rank());
  const double epsilon = call.number("epsilon", 0);
  if (axis + 1 == static_cast<int64_t>(data.rank()) && call.rank(1) == 1 && call.rank(2) == 1)
    return call.result(fmt::format("nn.layer_norm($0, $1, $2, epsilon={})", float_attribute(epsilon)),
                       {data, call.in(1), call.in(2)});
  const std::string over = fmt::format("axis=[{}], keepdims=True", axis);
  const Term centred = call.step("centred", fmt::format("$0 - mean($0, {})", over), {data});
  call.result(
      fmt::format("$0 * rsqrt(mean(square($0), {}) + {}) * $1 + $2", over, literal(epsilon, data.dtype())),
      {centred, call.in(1), call.in(2)});
}

/// Its `alpha` is not divided by the number of neighbours.
void local_response_norm(Call& call) {
  const int64_t size = 2 * call.integer("depth_radius", 5) + 1;
  call.result(fmt::format("nn.lrn($0, size={}, axis=3, bias={}, alpha={}, beta={})", size,
                          float_attribute(call.number("bias", 1)),
                          float_attribute(call.number("alpha", 1) * static_cast<double>(size)),
                          float_attribute(call.number("beta", 0.5))),
              {call.in(0)});
}

}  // namespace

std::span<const Operator> layer_operators() {
  static const Operator kRows[] = {
      {"AvgPool", "", pool_by_attributes<kAvg, 2>},
      {"AvgPool3D", "", pool_by_attributes<kAvg, 3>},
      {"BiasAdd", "", bias_add},
      {"BiasAddV1", "", bias_add},
      {"Conv2D", "", convolution},
      {"Conv2DBackpropInput", "", transposed_convolution},
      {"Conv3D", "", convolution_3d},
      {"DepthwiseConv2dNative", "", depthwise_convolution},
      {"FusedBatchNorm", "", batch_norm},
      {"FusedBatchNormV2", "", batch_norm},
      {"FusedBatchNormV3", "", batch_norm},
      {"LRN", "", local_response_norm},
      {"LayerNorm", "", layer_norm},
      {"MaxPool", "", pool_by_attributes<kMax, 2>},
      {"MaxPool3D", "", pool_by_attributes<kMax, 3>},
      {"MaxPoolV2", "", pool_by_inputs},
  };
  return kRows;
}

}  // namespace quern::tensorflow
