// Pools.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/node/windows.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

std::string pooled(Call& call, const Windows& windows, std::string_view kind, std::string_view data,
                   std::string_view more = "") {
  // Without strides a reader would expect those of PyTorch, the kernel's extents.
  const bool is_dense = windows.strides == std::vector<int64_t>(windows.count, 1);
  return fmt::format("nn.{}_pool{}({}, pool_size={}{}{}{}{})", kind, dimensions(windows.count), data,
                     list_of(windows.kernel), is_dense ? ", strides=" + list_of(windows.strides) : "",
                     windows.attributes(), call.flag("ceil_mode", false) ? ", ceil_mode=True" : "", more);
}

/// Where the largest element of each window is, in the data in row-major order, or with both spatial axes in the opposite
/// order.
Term places_of_largest(Call& call, const Windows& windows) {
  const std::string places = fmt::format(
      "nn.max_pool_indices($0, pool_size={}, strides={}{}{}{})", list_of(windows.kernel),
      list_of(windows.strides),
      windows.begins == windows.ends && windows.padding() == list_of(std::vector<int64_t>(windows.count))
          ? ""
          : ", padding=" + windows.padding(),
      windows.dilations == std::vector<int64_t>(windows.count, 1)
          ? ""
          : ", dilation=" + list_of(windows.dilations),
      call.flag("ceil_mode", false) ? ", ceil_mode=True" : "");
  if (!call.flag("storage_order", false)) return call.writer().let(call.hint(1), places, {call.in(0)});
  const auto extents = extents_from(call.in(0), 2, "places in column-major order");
  if (extents.size() != 2) throw Refusal("asks for places in column-major order along other than two axes");
  const Term rows = call.step("places", places, {call.in(0)});
  const auto number = [](int64_t value) { return literal(static_cast<double>(value), DType::int64()); };
  return call.writer().let(
      call.hint(1),
      fmt::format("$0 / {0} * {0} + $0 % {1} * {2} + $0 / {1} % {2}", number(extents[0] * extents[1]),
                  number(extents[1]), number(extents[0])),
      {rows});
}

void max_pool(Call& call) {
  const Windows windows = windows_of(call);
  call.result(pooled(call, windows, "max", "$0"), {call.in(0)});
  if (call.wants(1)) call.set(1, places_of_largest(call, windows));
}

/// Puts elements back where `MaxPool` took them from, among zeros.
void max_unpool(Call& call) {
  const Windows windows = windows_of(call);
  const Term& data = call.in(0);
  auto extents = extents_from(data, 0, "places");
  int64_t total = extents[0] * extents[1];
  for (size_t j = 0; j < windows.count; ++j) {
    extents[j + 2] =
        (extents[j + 2] - 1) * windows.strides[j] - windows.begins[j] - windows.ends[j] + windows.kernel[j];
    total *= extents[j + 2];
  }
  const Term placed = call.step("placed",
                                fmt::format("reshape(scatter_elements(zeros([{}], dtype=\"{}\"), reshape($1, "
                                            "newshape=[-1]), reshape($0, newshape=[-1])), newshape={})",
                                            total, to_string(data.dtype()), list_of(extents)),
                                {data, call.in(1)});
  const auto wanted = call.integers_in(2);
  if (!wanted || *wanted == extents) return call.set(0, placed);
  std::vector<std::string> pads;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i >= wanted->size() || (*wanted)[i] < extents[i])
      throw Refusal("its result is larger than `output_shape`");
    pads.push_back(fmt::format("[0, {}]", (*wanted)[i] - extents[i]));
  }
  call.result(fmt::format("nn.pad($0, {}, pad_width=[{}])", literal(0, data.dtype()), fmt::join(pads, ", ")),
              {placed});
}

void average_pool(Call& call) {
  const Windows windows = windows_of(call);
  const bool counts_padding = call.flag("count_include_pad", false);
  call.result(pooled(call, windows, "avg", "$0", counts_padding ? ", count_include_pad=True" : ""),
              {call.in(0)});
}

/// The p-norm of each window, by the mean of powers.
void lp_pool(Call& call) {
  const Windows windows = windows_of(call);
  int64_t count = 1;
  for (int64_t extent : windows.kernel) count *= extent;
  const DType dtype = call.in(0).dtype();
  const auto p = static_cast<double>(call.integer("p", 2));
  const std::string means = pooled(call, windows, "avg", fmt::format("power(abs($0), {})", literal(p, dtype)),
                                   ", count_include_pad=True");
  call.result(fmt::format("power({} * {}, {})", means, literal(static_cast<double>(count), dtype),
                          literal(1 / p, dtype)),
              {call.in(0)});
}

/// Over all axes but the first two.
std::string spatial_axes(const Term& data) {
  std::vector<int64_t> axes;
  for (size_t i = 2; i < data.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return list_of(axes);
}

void global(Call& call, std::string_view pool, std::string_view reduction) {
  const Term& data = call.in(0);
  if (data.rank() == 4) return call.result(fmt::format("nn.global_{}_pool2d($0)", pool), {data});
  call.result(fmt::format("{}($0, axis={}, keepdims=True)", reduction, spatial_axes(data)), {data});
}

void global_lp(Call& call) {
  call.result(
      fmt::format("norm($0, p={}, axis={}, keepdims=True)",
                  float_attribute(static_cast<double>(call.integer("p", 2))), spatial_axes(call.in(0))),
      {call.in(0)});
}

}  // namespace

std::span<const Operator> pool_operators() {
  static const Operator kRows[] = {
      {"AveragePool", "", average_pool},
      {"GlobalAveragePool", "", [](Call& call) { global(call, "avg", "mean"); }},
      {"GlobalLpPool", "", global_lp},
      {"GlobalMaxPool", "", [](Call& call) { global(call, "max", "max"); }},
      {"LpPool", "", lp_pool},
      {"MaxPool", "", max_pool},
      {"MaxUnpool", "", max_unpool},
  };
  return kRows;
}

}  // namespace quern::onnx
