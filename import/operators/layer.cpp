// Convolutions, norms, softmaxes.

#include <fmt/format.h>

#include <algorithm>

#include "import/node/windows.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// The expression with the bias added, where there is one in the input.
void with_bias(Call& call, const std::string& expression, size_t input, std::vector<Term> operands) {
  if (!call.has(input)) return call.result(expression, operands);
  operands.push_back(call.in(input));
  call.result(fmt::format("nn.bias_add({}, ${})", expression, operands.size() - 1), operands);
}

std::string groups_of(Call& call) {
  const int64_t groups = call.integer("group", 1);
  return groups == 1 ? "" : fmt::format(", groups={}", groups);
}

void convolution(Call& call) {
  const Windows windows = windows_of(call, extents_from(call.in(1), 2, "a kernel"));
  with_bias(
      call,
      fmt::format("nn.conv{}($0, $1{}{})", dimensions(windows.count), windows.attributes(), groups_of(call)),
      2, {call.in(0), call.in(1)});
}

/// Between a pixel at the border and the outside, ONNX's reference implementation interpolates with 0, and the library does not:
/// zeros around the image become a part of it, and the padding is less by them.
void deformable_convolution(Call& call) {
  if (call.rank(0) != 4)
    throw Refusal(fmt::format("its data have rank {}; those of images, of rank 4, are known", call.rank(0)));
  if (call.has(4)) throw Refusal("weighs the elements of its windows by a mask");
  const auto kernel = extents_from(call.in(1), 2, "a kernel");
  if (const auto given = call.integers("kernel_shape"); given && *given != kernel)
    throw Refusal(fmt::format("its `kernel_shape` is {}, and that of its weights is {}", list_of(*given),
                              list_of(kernel)));
  Windows windows = windows_of(call, kernel);
  for (auto* pads : {&windows.begins, &windows.ends})
    for (int64_t& pad : *pads) --pad;
  const int64_t offset_groups = call.integer("offset_group", 1);
  const auto channels = as_const(call.in(0).extent(1));
  if (offset_groups < 1 || (channels && *channels % offset_groups != 0))
    throw Refusal(fmt::format("has {} channels in {} groups of offsets", to_string(call.in(0).extent(1)),
                              offset_groups));
  const Term padded = call.step("padded",
                                fmt::format("nn.pad($0, {}, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])",
                                            literal(0, call.in(0).dtype())),
                                {call.in(0)});
  const std::string expression = fmt::format(
      "nn.deformable_conv2d($0, $1, $2{}{}{})", windows.attributes(),
      offset_groups == 1 ? "" : fmt::format(", deformable_groups={}", offset_groups), groups_of(call));
  with_bias(call, expression, 3, {padded, call.in(2), call.in(1)});
}

/// Padding so that the result has the extents that are asked for.
void pad_to(Windows& windows, const std::vector<int64_t>& wanted, const std::vector<int64_t>& extents,
            std::vector<int64_t>& added, bool is_lower) {
  for (size_t i = 0; i < windows.count; ++i) {
    const int64_t whole =
        windows.strides[i] * (extents[i] - 1) + (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t total = whole + added[i] - wanted[i];
    if (total < 0) added[i] -= total;
    const int64_t padding = std::max<int64_t>(total, 0);
    windows.begins[i] = is_lower ? padding - padding / 2 : padding / 2;
    windows.ends[i] = padding - windows.begins[i];
  }
}

void transposed_convolution(Call& call) {
  const auto kernel = extents_from(call.in(1), 2, "a kernel");
  const std::string automatic = call.string("auto_pad", "NOTSET");
  const size_t count = kernel.size();
  Windows windows{count,
                  kernel,
                  call.integers("strides").value_or(std::vector<int64_t>(count, 1)),
                  call.integers("dilations").value_or(std::vector<int64_t>(count, 1)),
                  {},
                  {}};
  const auto pads = call.integers("pads").value_or(std::vector<int64_t>(2 * count, 0));
  auto added = call.integers("output_padding").value_or(std::vector<int64_t>(count, 0));
  if (pads.size() != 2 * count || added.size() != count || windows.strides.size() != count ||
      windows.dilations.size() != count || call.rank(0) != count + 2)
    throw Refusal(fmt::format("its attributes are not for {} axes", count));
  windows.begins.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(count));
  windows.ends.assign(pads.begin() + static_cast<ptrdiff_t>(count), pads.end());
  auto wanted = call.integers("output_shape");
  if (wanted && wanted->size() == count + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (!wanted && automatic.starts_with("SAME")) {
    wanted = extents_from(call.in(0), 2, "padding that keeps the extents");
    for (size_t i = 0; i < count; ++i) (*wanted)[i] *= windows.strides[i];
  }
  if (wanted)
    pad_to(windows, *wanted, extents_from(call.in(0), 2, "a given shape"), added, automatic == "SAME_LOWER");
  const bool adds = std::ranges::any_of(added, [](int64_t extent) { return extent != 0; });
  with_bias(call,
            fmt::format("nn.conv{}_transpose($0, $1{}{}{})", dimensions(count), windows.attributes(),
                        adds ? ", output_padding=" + list_of(added) : "", groups_of(call)),
            2, {call.in(0), call.in(1)});
}

std::string epsilon_of(Call& call, double otherwise = 1e-5) {
  return float_attribute(call.number("epsilon", otherwise));
}

/// As training does: by the batch's own mean and variance, of which running ones take a share.
void batch_norm_by_batch(Call& call) {
  const Term& data = call.in(0);
  const std::string others = "axis=[1], exclude=True";
  const Term mean = call.step("mean", fmt::format("mean($0, {})", others), {data});
  const Term var =
      call.step("var", fmt::format("variance($0, mean($0, {}, keepdims=True), {})", others, others), {data});
  call.result(fmt::format("nn.batch_norm($0, $1, $2, $3, $4, epsilon={}).0", epsilon_of(call)),
              {data, call.in(1), call.in(2), mean, var});
  const double momentum = call.number("momentum", 0.9);
  const std::string running =
      fmt::format("$0 * {} + $1 * {}", literal(momentum, data.dtype()), literal(1 - momentum, data.dtype()));
  if (call.wants(1)) call.set(1, call.writer().let(call.hint(1), running, {call.in(3), mean}));
  if (call.wants(2)) call.set(2, call.writer().let(call.hint(2), running, {call.in(4), var}));
}

void batch_norm(Call& call) {
  const std::vector<Term> operands = {call.in(0), call.in(1), call.in(2), call.in(3), call.in(4)};
  if (!call.flag("training_mode", false) && !call.wants(1))
    return call.result(fmt::format("nn.batch_norm($0, $1, $2, $3, $4, epsilon={}).0", epsilon_of(call)),
                       operands);
  batch_norm_by_batch(call);
}

void instance_norm(Call& call) {
  call.result(fmt::format("nn.instance_norm($0, $1, $2, epsilon={})", epsilon_of(call)),
              {call.in(0), call.in(1), call.in(2)});
}

void layer_norm(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", -1, data.rank());
  const bool is_last = axis + 1 == static_cast<int64_t>(data.rank());
  if (is_last && call.has(2) && call.rank(1) == 1 && !call.wants(1) && !call.wants(2))
    return call.result(fmt::format("nn.layer_norm($0, $1, $2, epsilon={})", epsilon_of(call)),
                       {data, call.in(1), call.in(2)});
  std::vector<int64_t> axes;
  for (auto i = axis; i < static_cast<int64_t>(data.rank()); ++i) axes.push_back(i);
  const std::string over = fmt::format("axis={}, keepdims=True", list_of(axes));
  const Term mean = call.step("mean", fmt::format("mean($0, {})", over), {data});
  const Term centred = call.step("centred", "$0 - $1", {data, mean});
  const Term scale = call.step("inverse_deviation",
                               fmt::format("rsqrt(mean(square($0), {}) + {})", over,
                                           literal(call.number("epsilon", 1e-5), data.dtype())),
                               {centred});
  if (call.has(2))
    call.result("$0 * $1 * $2 + $3", {centred, scale, call.in(1), call.in(2)});
  else
    call.result("$0 * $1 * $2", {centred, scale, call.in(1)});
  call.set(1, mean);
  call.set(2, scale);
}

void group_norm(Call& call) {
  const int64_t groups = call.integer("num_groups");
  if (groups < 1) throw Refusal("has no groups");
  const auto channels = as_const(call.in(0).extent(1));
  // Until operator set 21 a scale and an offset were those of a group.
  const auto per_channel = [&](size_t input) {
    const auto count = as_const(call.in(input).extent(0));
    if (count == channels || !channels) return call.in(input);
    return call.step("factors", fmt::format("repeat($0, repeats={}, axis=0)", *channels / groups),
                     {call.in(input)});
  };
  call.result(fmt::format("nn.group_norm($0, $1, $2, num_groups={}, epsilon={})", groups, epsilon_of(call)),
              {call.in(0), per_channel(1), per_channel(2)});
}

void local_response_norm(Call& call) {
  call.result(
      fmt::format("nn.lrn($0, size={}, bias={}, alpha={}, beta={})", call.integer("size"),
                  float_attribute(call.number("bias", 1)), float_attribute(call.number("alpha", 1e-4)),
                  float_attribute(call.number("beta", 0.75))),
      {call.in(0)});
}

void lp_normalisation(Call& call) {
  const Term& data = call.in(0);
  call.result(fmt::format("$0 / norm($0, p={}, axis=[{}], keepdims=True)",
                          float_attribute(static_cast<double>(call.integer("p", 2))),
                          call.axis("axis", -1, data.rank())),
              {data});
}

void mean_variance_normalisation(Call& call) {
  const Term& data = call.in(0);
  const std::string over = fmt::format(
      "axis={}, keepdims=True", list_of(call.integers("axes").value_or(std::vector<int64_t>{0, 2, 3})));
  const Term centred = call.step("centred", fmt::format("$0 - mean($0, {})", over), {data});
  call.result(fmt::format("$0 / (sqrt(mean(square($0), {})) + {})", over, literal(1e-9, data.dtype())),
              {centred});
}

/// Along an axis, or before operator set 13 along all from that axis on.
void along_axis(Call& call, std::string_view expression) {
  const Term& data = call.in(0);
  const bool is_single = call.opset() >= 13;
  const int64_t axis = call.axis("axis", is_single ? -1 : 1, data.rank());
  const bool is_last = axis + 1 == static_cast<int64_t>(data.rank());
  if (is_single || is_last)
    return call.result(
        fmt::format(fmt::runtime(expression), "$0", is_last ? "" : fmt::format(", axis={}", axis)), {data});
  const auto dims = data.type->dims;
  const std::string rows = to_string(dim_product(dims.first(static_cast<size_t>(axis))));
  const std::string flat = fmt::format("reshape($0, newshape=[{}, -1])", rows);
  call.result(fmt::format("reshape({}, newshape={})", fmt::format(fmt::runtime(expression), flat, ""),
                          list_of(std::vector<Dim>(dims.begin(), dims.end()))),
              {data});
}

void softmax(Call& call) { along_axis(call, "nn.softmax({}{})"); }
void log_softmax(Call& call) { along_axis(call, "nn.log_softmax({}{})"); }

void hardmax(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", call.opset() >= 13 ? -1 : 1, data.rank());
  const auto count = as_const(data.extent(static_cast<size_t>(axis)));
  if (!count) throw Refusal("its axis has an extent that is not known");
  const DType dtype = data.dtype();
  call.result(fmt::format("one_hot(argmax($0, axis=[{0}]), {1}, {2}, depth={3}, axis={0}, dtype=\"{4}\")",
                          axis, literal(1, dtype), literal(0, dtype), *count, to_string(dtype)),
              {data});
}

}  // namespace

std::span<const Operator> layer_operators() {
  static const Operator kRows[] = {
      {"BatchNormalization", "", batch_norm},
      {"Conv", "", convolution},
      {"ConvTranspose", "", transposed_convolution},
      {"DeformConv", "", deformable_convolution},
      {"GroupNormalization", "", group_norm},
      {"Hardmax", "", hardmax},
      {"InstanceNormalization", "", instance_norm},
      {"LRN", "", local_response_norm},
      {"LayerNormalization", "", layer_norm},
      {"LogSoftmax", "", log_softmax},
      {"LpNormalization", "", lp_normalisation},
      {"MeanVarianceNormalization", "", mean_variance_normalisation},
      {"Softmax", "", softmax},
  };
  return kRows;
}

}  // namespace quern::onnx
