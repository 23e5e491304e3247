// Images and volumes of other extents.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "import/operators/table.h"
#include "import/text/literals.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// The axes that change and their new extents; and their scales where positions go by them, as an extent was rounded.
struct Target {
  std::vector<int64_t> axes;
  std::vector<Dim> sizes;
  std::vector<std::vector<int64_t>> scales;
  bool is_rounded = false;
};

/// The fraction [p, q] with the least denominator that is a scale but for the rounding of single precision.
std::vector<int64_t> fraction_of(double scale) {
  constexpr double kMost = 1 << 20;
  if (!(scale >= 1 / kMost && scale <= kMost)) throw Refusal(fmt::format("scales by {}", scale));
  double rest = scale;
  int64_t p = static_cast<int64_t>(rest), q = 1, p_before = 1, q_before = 0;
  while (std::abs(static_cast<double>(p) / static_cast<double>(q) - scale) > 2e-7 * scale) {
    rest = 1 / (rest - std::floor(rest));
    const auto digit = static_cast<int64_t>(rest);
    p_before = std::exchange(p, digit * p + p_before);
    q_before = std::exchange(q, digit * q + q_before);
  }
  return {p, q};
}

/// An axis of `extent` elements times a fraction, rounded down.
void scale_axis(Target& target, int64_t axis, Dim extent, const std::vector<int64_t>& scale) {
  const Dim scaled = dim_mul(extent, dim_const(scale[0]));
  target.axes.push_back(axis);
  target.sizes.push_back(dim_floordiv(scaled, dim_const(scale[1])));
  target.scales.push_back(scale);
  target.is_rounded |= as_const(dim_floormod(scaled, dim_const(scale[1]))) != 0;
}

Target by_scales(const Term& data, const std::vector<double>& scales, const std::vector<int64_t>& axes) {
  if (scales.size() != axes.size()) throw Refusal("has another number of scales than axes");
  Target target;
  for (size_t i = 0; i < scales.size(); ++i)
    if (scales[i] != 1)
      scale_axis(target, axes[i], data.extent(static_cast<size_t>(axes[i])), fraction_of(scales[i]));
  return target;
}

std::vector<Dim> sizes_in(Call& call, const std::vector<int64_t>& axes) {
  const auto sizes = dims_of(call.in(3));
  if (!sizes) call.integers_in(3);  // says what to do
  if (sizes->size() != axes.size()) throw Refusal("has another number of sizes than axes");
  return *sizes;
}

Target by_sizes(Call& call, const std::vector<int64_t>& axes) {
  const std::vector<Dim> sizes = sizes_in(call, axes);
  Target target;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (call.in(0).extent(static_cast<size_t>(axes[i])) == sizes[i]) continue;
    target.axes.push_back(axes[i]);
    target.sizes.push_back(sizes[i]);
  }
  return target;
}

/// All axes by one scale, the least or the largest of those that their sizes ask for; extents are rounded to the nearest.
Target by_one_scale(Call& call, const std::vector<int64_t>& axes, bool is_least) {
  const std::vector<Dim> sizes = sizes_in(call, axes);
  std::vector<int64_t> scale;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim extent = call.in(0).extent(static_cast<size_t>(axes[i]));
    const auto p = as_const(sizes[i]), q = as_const(extent);
    if (!p || !q)
      throw Refusal(fmt::format("keeps the aspect ratio of axis {}, {} to {}, which have to be known",
                                axes[i], to_string(extent), to_string(sizes[i])));
    constexpr int64_t kMost = int64_t{1} << 30;  // products of two fit
    if (*p < 0 || *p > kMost || *q < 1 || *q > kMost)
      throw Refusal(fmt::format("keeps the aspect ratio of axis {}, {} to {}", axes[i], *q, *p));
    if (scale.empty() || (*p * scale[1] < scale[0] * *q) == is_least)
      scale = {*p / std::gcd(*p, *q), *q / std::gcd(*p, *q)};
  }
  Target target;
  for (const int64_t axis : axes) {
    const int64_t twice = 2 * *as_const(call.in(0).extent(static_cast<size_t>(axis))) * scale[0];
    target.axes.push_back(axis);
    target.sizes.push_back(dim_const((twice + scale[1]) / (2 * scale[1])));
    target.scales.push_back(scale);
    target.is_rounded |= twice % (2 * scale[1]) != 0;
  }
  return target;
}

void resample(Call& call, const Target& target, std::string attributes) {
  if (target.axes.empty()) return call.set(0, call.in(0));
  if (target.is_rounded) {
    std::vector<std::string> scales;
    for (const auto& scale : target.scales) scales.push_back(list_of(scale));
    attributes += fmt::format(", scales=[{}]", fmt::join(scales, ", "));
  }
  call.result(fmt::format("image.resample($0, size={}, axes={}{})", list_of(target.sizes),
                          list_of(target.axes), attributes),
              {call.in(0)});
}

std::vector<double> floats_in(Call& call, size_t input) {
  const Term& term = call.in(input);
  if (!term.constant)
    throw Refusal(fmt::format("`{0}` has to be known: give it with `--constant {0}=FILE.npy`",
                              call.node().inputs[input]));
  std::vector<double> floats;
  floats.reserve(static_cast<size_t>(term.constant->size()));
  for (int64_t i = 0; i < term.constant->size(); ++i) floats.push_back(element_as_double(*term.constant, i));
  return floats;
}

std::vector<int64_t> axes_of(Call& call) {
  std::vector<int64_t> axes = call.integers("axes").value_or(std::vector<int64_t>());
  if (axes.empty()) {
    axes.resize(call.rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return from_front(std::move(axes), call.rank(0));
}

Target target_of(Call& call, const std::vector<int64_t>& axes) {
  const bool is_old = call.opset() < 11;
  if (is_old || !call.has(3)) return by_scales(call.in(0), floats_in(call, is_old ? 1 : 2), axes);
  const std::string policy = call.string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return by_sizes(call, axes);
  return by_one_scale(call, axes, policy == "not_larger");
}

/// A part of each image, which is a box of image.crop_and_resize: the same one for all.
void crop_and_resize(Call& call, const std::vector<int64_t>& axes, const std::string& mode) {
  const Target target = target_of(call, axes);
  const std::vector<int64_t> images = {2, 3};
  const bool has_images = call.rank(0) == 4 && target.axes == images;
  if (!has_images || mode == "cubic")
    throw Refusal(
        "cuts out parts (`tf_crop_and_resize`) along other axes than the last two of four, or by cubic "
        "interpolation");
  if (target.is_rounded) throw Refusal("cuts out parts whose extents are rounded");
  std::vector<int64_t> corners;
  for (const size_t end : {size_t{0}, axes.size()})
    for (const int64_t axis : images)
      corners.push_back(std::find(axes.begin(), axes.end(), axis) - axes.begin() + static_cast<int64_t>(end));
  const std::string images_count = to_string(call.in(0).extent(0));
  call.result(
      fmt::format("image.crop_and_resize($0, broadcast_to(take($1, {}), shape=[{}, 4]), arange(0, {}, "
                  "dtype=\"int32\"), crop_size={}{}{})",
                  list_of(corners), images_count, images_count, list_of(target.sizes),
                  mode == "nearest" ? string_attribute("method", "nearest_neighbor") : "",
                  call.has_attribute("extrapolation_value")
                      ? fmt::format(", extrapolation_value={}",
                                    float_attribute(call.number("extrapolation_value", 0)))
                      : ""),
      {call.in(0), call.in(1)});
}

void resize(Call& call) {
  const bool is_old = call.opset() < 11;
  const std::vector<int64_t> axes = axes_of(call);
  if (call.flag("antialias", false)) throw Refusal("smooths before it resizes");
  const std::string mode = call.string("mode", "nearest");
  const std::string transformation =
      call.string("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
  if (transformation == "tf_crop_and_resize") return crop_and_resize(call, axes, mode);
  std::string attributes = string_attribute("method", mode == "nearest" ? "nearest_neighbor" : mode);
  if (transformation != "half_pixel")
    attributes += string_attribute("coordinate_transformation_mode", transformation);
  if (mode == "nearest")
    attributes += string_attribute("rounding_method",
                                   call.string("nearest_mode", is_old ? "floor" : "round_prefer_floor"));
  if (mode == "cubic") {
    attributes += fmt::format(", cubic_alpha={}", float_attribute(call.number("cubic_coeff_a", -0.75)));
    if (call.flag("exclude_outside", false)) attributes += ", cubic_exclude=1";
  }
  resample(call, target_of(call, axes), attributes);
}

void upsample(Call& call) {
  const auto given = call.numbers("scales");
  const Target target = by_scales(call.in(0), given ? *given : floats_in(call, 1), axes_of(call));
  const std::string mode = call.string("mode", "nearest");
  resample(call, target,
           mode == "nearest" ? string_attribute("method", "nearest_neighbor") +
                                   string_attribute("coordinate_transformation_mode", "asymmetric") +
                                   string_attribute("rounding_method", "floor")
                             : string_attribute("method", "linear") +
                                   string_attribute("coordinate_transformation_mode", "asymmetric"));
}

}  // namespace

std::span<const Operator> resize_operators() {
  static const Operator kRows[] = {
      {"Resize", "", resize},
      {"Upsample", "", upsample},
  };
  return kRows;
}

}  // namespace quern::onnx
