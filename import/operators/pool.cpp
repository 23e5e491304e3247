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

/// Where the largest element of each window is, in the data in row-major order, or with spatial axes in the opposite order.
Term places_of_largest(Call& call, const Windows& windows) {
  if (call.flag("ceil_mode", false)) throw Refusal("asks for places in windows that are cut");
  auto extents = extents_from(call.in(0), 0, "places");
  std::vector<std::string> outer, inner, taken, coordinates = {"i0", "i1"};
  for (size_t k = 0; k < windows.count + 2; ++k) {
    const std::string index = fmt::format("i{}", k);
    if (k < 2) {
      outer.push_back(fmt::format("{} < {}", index, extents[k]));
      taken.push_back(index);
      continue;
    }
    const size_t j = k - 2;
    const int64_t reach = (windows.kernel[j] - 1) * windows.dilations[j] + 1;
    const int64_t count = (extents[k] + windows.begins[j] + windows.ends[j] - reach) / windows.strides[j] + 1;
    outer.push_back(fmt::format("{} < {}", index, count));
    inner.push_back(fmt::format("r{} < {}", j, windows.kernel[j]));
    int64_t behind = 1;
    for (size_t l = j + 1; l < windows.count; ++l) behind *= windows.kernel[l];
    const std::string start = fmt::format("{} * {} - {}", index, windows.strides[j], windows.begins[j]);
    taken.push_back(fmt::format("{} + r{} * {}", start, j, windows.dilations[j]));
    coordinates.push_back(
        fmt::format("({} + %first / {} % {} * {})", start, behind, windows.kernel[j], windows.dilations[j]));
  }
  if (call.flag("storage_order", false)) {
    std::reverse(coordinates.begin() + 2, coordinates.end());
    std::reverse(extents.begin() + 2, extents.end());
  }
  std::string place = coordinates[0];
  for (size_t k = 1; k < coordinates.size(); ++k)
    place = fmt::format("({}) * {} + {}", place, extents[k], coordinates[k]);
  return call.writer().let(
      call.hint(1),
      fmt::format("[{}] => {{ let %first = argmax[{}] $0[{}] else cast<{}>(-inff); cast<int64>({}) }}",
                  fmt::join(outer, ", "), fmt::join(inner, ", "), fmt::join(taken, ", "),
                  to_string(call.in(0).dtype()), place),
      {call.in(0)});
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
