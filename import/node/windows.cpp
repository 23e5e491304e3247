#include "import/node/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::onnx {

namespace {

using namespace import_text;

bool are_all(const std::vector<int64_t>& numbers, int64_t value) {
  return std::ranges::all_of(numbers, [&](int64_t number) { return number == value; });
}

/// Padding so that the result has as many windows as strides fit into the axis, the odd one at an end of it.
void pad_to_same(Windows& windows, const Term& data, bool is_upper) {
  const auto extents = extents_from(data, 2, "padding that keeps the extents");
  for (size_t i = 0; i < windows.count; ++i) {
    const int64_t places = (extents[i] + windows.strides[i] - 1) / windows.strides[i];
    const int64_t reach = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (places - 1) * windows.strides[i] + reach - extents[i]);
    windows.begins[i] = is_upper ? total / 2 : total - total / 2;
    windows.ends[i] = total - windows.begins[i];
  }
}

}  // namespace

std::vector<int64_t> entries_of(Call& call, std::string_view name, size_t count, int64_t otherwise) {
  auto list = call.integers(name).value_or(std::vector<int64_t>(count, otherwise));
  if (list.size() != count) throw Refusal(fmt::format("its `{}` is not for {} axes", name, count));
  return list;
}

std::string dimensions(size_t count) {
  if (count < 1 || count > 3) throw Refusal(fmt::format("has {} spatial axes; 1 to 3 are known", count));
  return fmt::format("{}d", count);
}

std::vector<int64_t> extents_from(const Term& term, size_t first, std::string_view what) {
  std::vector<int64_t> extents;
  for (size_t i = first; i < term.rank(); ++i) {
    const auto extent = as_const(term.extent(i));
    if (!extent)
      throw Refusal(fmt::format("{} needs known extents, but one is {}", what, to_string(term.extent(i))));
    extents.push_back(*extent);
  }
  return extents;
}

Windows windows_of(Call& call, std::vector<int64_t> kernel) {
  const Term& data = call.in(0);
  if (data.rank() < 3) throw Refusal("its data have no spatial axes");
  Windows windows{data.rank() - 2, {}, {}, {}, {}, {}};
  windows.kernel = kernel.empty() ? entries_of(call, "kernel_shape", windows.count, 0) : std::move(kernel);
  windows.strides = entries_of(call, "strides", windows.count, 1);
  windows.dilations = entries_of(call, "dilations", windows.count, 1);
  const auto pads = entries_of(call, "pads", 2 * windows.count, 0);
  windows.begins.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(windows.count));
  windows.ends.assign(pads.begin() + static_cast<ptrdiff_t>(windows.count), pads.end());
  if (are_all(windows.kernel, 0) || std::ranges::any_of(windows.strides, [](int64_t s) { return s < 1; }))
    throw Refusal("lacks the extents of its kernel, or a stride is below 1");
  const std::string automatic = call.string("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    pad_to_same(windows, data, automatic == "SAME_UPPER");
  else if (automatic != "NOTSET" && automatic != "VALID")
    throw Refusal(fmt::format("its `auto_pad` is `{}`", automatic));
  return windows;
}

std::string Windows::padding() const {
  std::vector<int64_t> all = begins;
  if (begins != ends) all.insert(all.end(), ends.begin(), ends.end());
  return list_of(all);
}

std::string Windows::attributes() const {
  std::string text;
  if (!are_all(strides, 1)) text += ", strides=" + list_of(strides);
  if (!are_all(begins, 0) || !are_all(ends, 0)) text += ", padding=" + padding();
  if (!are_all(dilations, 1)) text += ", dilation=" + list_of(dilations);
  return text;
}

}  // namespace quern::onnx
