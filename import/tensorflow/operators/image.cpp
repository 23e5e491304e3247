// Images.

#include <fmt/format.h>

#include <algorithm>

#include "import/node/sizes.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

/// To a height and a width. Positions are those of the corners (`align_corners`), of pixels' middles, or of their first corners
/// (tensorflow/core/util/image_resizer_state.h).
void resize(Call& call, std::string_view method, std::string_view middles) {
  const bool aligns = call.flag("align_corners", false), has_middles = call.flag("half_pixel_centers", false);
  if (aligns && has_middles) throw Refusal("has both `align_corners` and `half_pixel_centers`");
  const onnx::Sizes size = onnx::sizes_in(call, 1, 1);
  std::vector<Term> operands = {call.in(0)};
  operands.insert(operands.end(), size.operands.begin(), size.operands.end());
  const bool is_linear = method == "linear" && !call.in(0).dtype().is_float();
  call.result(
      fmt::format("image.resize2d({}, size={}, layout=\"NHWC\"{}, coordinate_transformation_mode=\"{}\")",
                  is_linear ? "cast($0, dtype=\"float32\")" : "$0", size.text,
                  method == "linear" ? "" : fmt::format(", method=\"{}\"", method),
                  aligns        ? "align_corners"
                  : has_middles ? middles
                                : "asymmetric"),
      operands);
}

void resize_bilinear(Call& call) { resize(call, "linear", "half_pixel"); }
void resize_nearest(Call& call) { resize(call, "nearest_neighbor", "tf_half_pixel_for_nn"); }

void crop_and_resize(Call& call) {
  const auto size = call.integers_in(3);
  if (!size) throw Refusal("lacks its size");
  const std::string method = call.string("method", "bilinear");
  const double outside = call.number("extrapolation_value", 0);
  call.result(fmt::format("image.crop_and_resize($0, $1, $2, crop_size={}, layout=\"NHWC\"{}{})",
                          list_of(*size), method == "bilinear" ? "" : ", method=\"nearest_neighbor\"",
                          outside == 0 ? "" : ", extrapolation_value=" + float_attribute(outside)),
              {call.in(0), call.in(1), call.in(2)});
}

}  // namespace

std::span<const Operator> image_operators() {
  static const Operator kRows[] = {
      {"CropAndResize", "", crop_and_resize},
      {"ResizeBilinear", "", resize_bilinear},
      {"ResizeNearestNeighbor", "", resize_nearest},
  };
  return kRows;
}

}  // namespace quern::tensorflow
