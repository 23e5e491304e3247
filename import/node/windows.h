#pragma once
// What operators over windows (convolutions, pools) have in common: kernels, strides, dilations, padding.

#include "import/node/call.h"

namespace quern::onnx {

struct Windows {
  size_t count;  ///< of spatial axes: those of the data from its third on
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> begins, ends;  ///< padding

  /// `[1, 1]`, or all four where both sides differ.
  std::string padding() const;
  /// `, strides=[2, 2], padding=[1, 1]`, without what is the default.
  std::string attributes() const;
};

/// The windows over the first input, with kernels of these extents; `kernel` is empty where the attribute has them.
Windows windows_of(Call& call, std::vector<int64_t> kernel = {});
/// The entries of an attribute that has one for each of `count` axes, all `otherwise` where it is left out.
std::vector<int64_t> entries_of(Call& call, std::string_view name, size_t count, int64_t otherwise);
/// "1d", "2d" or "3d"; refuses other counts of spatial axes.
std::string dimensions(size_t count);
/// The constant extents of axes from `first` on.
std::vector<int64_t> extents_from(const Term& term, size_t first, std::string_view what);

}  // namespace quern::onnx
