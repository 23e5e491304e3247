// Images: sampling at positions, regions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/operators/table.h"
#include "import/text/literals.h"

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

}  // namespace

std::span<const Operator> image_operators() {
  static const Operator kRows[] = {
      {"GridSample", "", grid_sample},
      {"RoiAlign", "", roi_align},
  };
  return kRows;
}

}  // namespace quern::onnx
