// Images: resizing, sampling at positions, regions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// The axes that change and their new extents, from sizes or from scales.
struct Target {
  std::vector<int64_t> axes, sizes;
};

std::vector<double> floats_in(Call& call, size_t input) {
  const Term& term = call.in(input);
  if (!term.constant)
    throw Refusal(fmt::format("`{0}` has to be known: give it with `--constant {0}=FILE.npy`",
                              call.node().inputs[input]));
  std::vector<double> floats;
  for (int64_t i = 0; i < term.constant->size(); ++i) floats.push_back(element_as_double(*term.constant, i));
  return floats;
}

int64_t known_extent(const Term& data, size_t axis) {
  const auto extent = as_const(data.extent(axis));
  if (!extent)
    throw Refusal(
        fmt::format("resizes axis {}, whose extent {} is not known", axis, to_string(data.extent(axis))));
  return *extent;
}

Target by_scales(const Term& data, const std::vector<double>& scales, const std::vector<int64_t>& axes) {
  Target target;
  if (scales.size() != axes.size()) throw Refusal("has another number of scales than axes");
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == 1) continue;
    const int64_t extent = known_extent(data, static_cast<size_t>(axes[i]));
    const double size = static_cast<double>(extent) * scales[i];
    const auto whole = static_cast<int64_t>(std::floor(size + 1e-6));
    // Positions are those of the extents' ratio, which is the scale only then.
    if (std::abs(size - static_cast<double>(whole)) > 1e-3 * size)
      throw Refusal(
          fmt::format("scales {} elements by {}, which is no whole number of them", extent, scales[i]));
    target.axes.push_back(axes[i]);
    target.sizes.push_back(whole);
  }
  return target;
}

Target by_sizes(Call& call, const std::vector<int64_t>& axes) {
  const auto sizes = dims_of(call.in(3));
  Target target;
  if (!sizes) call.integers_in(3);  // says what to do
  if (sizes->size() != axes.size()) throw Refusal("has another number of sizes than axes");
  for (size_t i = 0; i < sizes->size(); ++i) {
    if (call.in(0).extent(static_cast<size_t>(axes[i])) == (*sizes)[i]) continue;
    const auto known = as_const((*sizes)[i]);
    if (!known)
      throw Refusal(
          fmt::format("resizes axis {} to {}, which is not known", axes[i], to_string((*sizes)[i])));
    target.axes.push_back(axes[i]);
    target.sizes.push_back(*known);
  }
  return target;
}

void resample(Call& call, const Target& target, const std::string& attributes) {
  if (target.axes.empty()) return call.set(0, call.in(0));
  call.result(fmt::format("image.resample($0, size={}, axes={}{})", list_of(target.sizes),
                          list_of(target.axes), attributes),
              {call.in(0)});
}

std::string quoted(std::string_view name, std::string_view value) {
  return fmt::format(", {}=\"{}\"", name, value);
}

void resize(Call& call) {
  const Term& data = call.in(0);
  const bool is_old = call.opset() < 11;
  std::vector<int64_t> axes = call.integers("axes").value_or(std::vector<int64_t>());
  if (axes.empty())
    for (size_t i = 0; i < data.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  axes = from_front(std::move(axes), data.rank());
  if (call.flag("antialias", false)) throw Refusal("smooths before it resizes");
  if (call.string("keep_aspect_ratio_policy", "stretch") != "stretch")
    throw Refusal("keeps the aspect ratio");
  const std::string mode = call.string("mode", "nearest");
  const std::string transformation =
      call.string("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
  if (transformation == "tf_crop_and_resize" || transformation == "half_pixel_symmetric")
    throw Refusal(fmt::format("has the coordinates `{}`", transformation));
  const bool has_sizes = !is_old && call.has(3);
  const Target target =
      has_sizes ? by_sizes(call, axes) : by_scales(data, floats_in(call, is_old ? 1 : 2), axes);
  std::string attributes = quoted("method", mode == "nearest" ? "nearest_neighbor" : mode);
  if (transformation != "half_pixel") attributes += quoted("coordinate_transformation_mode", transformation);
  if (mode == "nearest")
    attributes +=
        quoted("rounding_method", call.string("nearest_mode", is_old ? "floor" : "round_prefer_floor"));
  if (mode == "cubic") {
    attributes += fmt::format(", cubic_alpha={}", float_attribute(call.number("cubic_coeff_a", -0.75)));
    if (call.flag("exclude_outside", false)) attributes += ", cubic_exclude=1";
  }
  resample(call, target, attributes);
}

void upsample(Call& call) {
  const Term& data = call.in(0);
  const auto given = call.numbers("scales");
  std::vector<int64_t> axes;
  for (size_t i = 0; i < data.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  const Target target = by_scales(data, given ? *given : floats_in(call, 1), axes);
  const std::string mode = call.string("mode", "nearest");
  resample(call, target,
           mode == "nearest"
               ? quoted("method", "nearest_neighbor") +
                     quoted("coordinate_transformation_mode", "asymmetric") +
                     quoted("rounding_method", "floor")
               : quoted("method", "linear") + quoted("coordinate_transformation_mode", "asymmetric"));
}

void grid_sample(Call& call) {
  std::string mode = call.string("mode", "bilinear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  const std::string padding = call.string("padding_mode", "zeros");
  // Coordinates are last in ONNX, and first but the batch in Relay.
  std::vector<int64_t> axes = {0, static_cast<int64_t>(call.rank(1)) - 1};
  for (int64_t i = 1; i + 1 < static_cast<int64_t>(call.rank(1)); ++i) axes.push_back(i);
  call.result(fmt::format("image.grid_sample($0, transpose($1, axes={}){}{}{}{})", list_of(axes),
                          mode == "bilinear" ? "" : quoted("method", mode),
                          call.rank(0) == 5 ? quoted("layout", "NCDHW") : "",
                          padding == "zeros" ? "" : quoted("padding_mode", padding),
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
                  mode == "avg" ? "" : quoted("mode", mode),
                  transformation == "half_pixel" ? ", aligned=True" : ""),
      {call.in(0), call.in(1), call.in(2)});
}

}  // namespace

std::span<const Operator> image_operators() {
  static const Operator kRows[] = {
      {"GridSample", "", grid_sample},
      {"Resize", "", resize},
      {"RoiAlign", "", roi_align},
      {"Upsample", "", upsample},
  };
  return kRows;
}

}  // namespace quern::onnx
