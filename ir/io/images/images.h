#pragma once
// Images as tensors of (height, width, channels): grey, grey and alpha, red, green and blue, the three and alpha.

#include <initializer_list>
#include <string>

#include "ir/io/data_formats.h"

namespace quern::data_detail {

/// Why an image that a file describes is not read, as a clause, or "". `can_hold` tells whether the file has bytes enough
/// for so many pixels: nothing is allocated for a header that lies.
std::string image_fault(const TensorHeader& header, bool can_hold);

/// The height, the width and the channels of a tensor that is to be an image: (h, w) is (h, w, 1). The message of the
/// Failure is a clause.
Result<TensorHeader> image_header(const HostTensor& image, std::initializer_list<int64_t> channels);

}  // namespace quern::data_detail
