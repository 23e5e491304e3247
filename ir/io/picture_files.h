#pragma once
// Pictures, which `save` draws of curves: they are written and never read.

#include <string>
#include <string_view>

#include "ir/base/result.h"
#include "ir/io/data_files.h"

namespace quern {

/// Whether the name of a file ends as those of pictures do: .svg, .png.
bool is_picture_file(std::string_view path);
/// Whether tensors of these names and ranks are curves: vectors, or one matrix with a curve in each row.
Result<Done> check_curves(const std::string& path, const Entries<size_t>& ranks);

}  // namespace quern
