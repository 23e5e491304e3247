#include "ir/io/images/images.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::data_detail {

std::string image_fault(const TensorHeader& header, bool can_hold) {
  constexpr int64_t kMost = int64_t{1} << 31;
  // Two extents below 2^31, and at most 4 channels.
  const int64_t height = header.shape[0], width = header.shape[1], channels = header.shape[2];
  if (height > kMost / channels / width)
    return fmt::format("its {} x {} pixels are more than are read", width, height);
  if (!can_hold) return fmt::format("it claims {} x {} pixels, more than its data can hold", width, height);
  return "";
}

Result<TensorHeader> image_header(const HostTensor& image, std::initializer_list<int64_t> channels) {
  TensorHeader header{image.dtype(), image.shape()};
  if (header.shape.size() == 2) header.shape.push_back(1);
  const bool fits = header.shape.size() == 3 && std::ranges::count(channels, header.shape[2]) > 0;
  if (!fits || header.shape[0] == 0 || header.shape[1] == 0)
    return Failure{
        fmt::format("an image is (height, width) or (height, width, channels), with pixels and {} channels, "
                    "and this is {}",
                    fmt::join(channels, ", "), type_to_string(image.dtype(), image.shape()))};
  return header;
}

}  // namespace quern::data_detail
