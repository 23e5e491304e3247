#pragma once
// Pictures that `save` draws of curves, and what of a tensor makes the difference to an image (ir/io/images/images.h).

#include <string>
#include <string_view>

#include "ir/base/result.h"
#include "ir/io/data_files.h"

namespace quern {

/// What is known of a tensor that is saved.
struct SavedTensor {
  DType dtype;
  size_t rank;
};

/// Whether the name of a file ends as those of pictures do: .svg, .png.
bool is_picture_file(std::string_view path);
/// Whether `save` draws tensors into this file. It does into a picture, except where one tensor is the pixels themselves:
/// uint8 or uint16 with two or three axes in a .png.
bool is_drawn(std::string_view path, const Entries<SavedTensor>& tensors);
/// Whether tensors are curves: vectors, or one matrix with a curve in each row.
Result<Done> check_curves(const std::string& path, const Entries<SavedTensor>& tensors);

}  // namespace quern
