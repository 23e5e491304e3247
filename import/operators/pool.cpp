// Pools.

#include <fmt/format.h>

#include "import/operators/table.h"
#include "import/operators/windows.h"

namespace quern::onnx {

namespace {

using namespace import_text;

std::string pooled(Call& call, const Windows& windows, std::string_view kind, std::string_view data, std::string_view more = "") {
  // Without strides a reader would expect those of PyTorch, the kernel's extents.
  const bool is_dense = windows.strides == std::vector<int64_t>(windows.count, 1);
  return fmt::format("nn.{}_pool{}({}, pool_size={}{}{}{}{})", kind, dimensions(windows.count), data, list_of(windows.kernel),
                     is_dense ? ", strides=" + list_of(windows.strides) : "", windows.attributes(), call.flag("ceil_mode", false) ? ", ceil_mode=True" : "", more);
}

void max_pool(Call& call) {
  if (call.wants(1)) throw Refusal("also asks where the largest elements are");
  const Windows windows = windows_of(call);
  call.result(pooled(call, windows, "max", "$0"), {call.in(0)});
}

void average_pool(Call& call) {
  const Windows windows = windows_of(call);
  const bool counts_padding = call.flag("count_include_pad", false);
  call.result(pooled(call, windows, "avg", "$0", counts_padding ? ", count_include_pad=True" : ""), {call.in(0)});
}

/// The p-norm of each window, by the mean of powers.
void lp_pool(Call& call) {
  const Windows windows = windows_of(call);
  int64_t count = 1;
  for (int64_t extent : windows.kernel) count *= extent;
  const DType dtype = call.in(0).dtype();
  const auto p = static_cast<double>(call.integer("p", 2));
  const std::string means = pooled(call, windows, "avg", fmt::format("power(abs($0), {})", literal(p, dtype)), ", count_include_pad=True");
  call.result(fmt::format("power({} * {}, {})", means, literal(static_cast<double>(count), dtype), literal(1 / p, dtype)), {call.in(0)});
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
  call.result(fmt::format("norm($0, p={}, axis={}, keepdims=True)", float_attribute(static_cast<double>(call.integer("p", 2))),
                          spatial_axes(call.in(0))),
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
  };
  return kRows;
}

}  // namespace quern::onnx
