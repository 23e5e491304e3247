#pragma once
// Pictures in files.

#include <string>

#include "ir/base/result.h"
#include "ir/io/data_files.h"
#include "repl/picture/picture.h"

namespace quern {

/// As an SVG or a PNG, by the ending of the file's name.
Result<Done> write_picture(const std::string& path, const picture::Picture& picture);

/// What `save` does with the name of a picture: a curve for each vector, with its name in the legend, or for each row
/// of a matrix.
Result<Done> draw_curves(const std::string& path, const Entries<TensorPtr>& curves);

}  // namespace quern
