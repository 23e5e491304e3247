#pragma once
// Images, and matrices as images.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/value/tensor.h"
#include "repl/picture/plot.h"

namespace quern::picture {

/// Pixels row by row, of one channel or of red, green and blue, from 0 to 1; NaN for what is none.
struct Image {
  int64_t width = 0, height = 0;
  int channels = 1;
  std::vector<float> numbers{};
  double black = 0, white = 1;  ///< what 0 and 1 stand for
};

/// A matrix, or a tensor of channels, height and width in this order or with the channels at its end: one, three, or
/// four with the opacity last. Leading axes of extent 1 do not count. Bytes are from 0 to 255, and so are colours that
/// go beyond 1; what is neither is between its least and its greatest number. Nothing where the shape is no image's.
std::optional<Image> image_of(const HostTensor& tensor);

/// Red, green and blue, up to 255.
using Colour = std::array<int, 3>;
/// Of a pixel; magenta where it is no number. Nothing below the last row.
std::optional<Colour> colour_at(const Image& image, int64_t x, int64_t y);

enum class Ink : uint8_t {
  Text,     ///< brightness as characters
  Palette,  ///< half blocks in the 256 colours of xterm
  True,     ///< half blocks in 24 bits
};

/// In another size: each pixel the mean of those that it stands for; NaN where one of them is.
Image resized(const Image& image, int64_t width, int64_t height);

/// As lines: small images are enlarged, those that do not fit are made smaller.
std::string image_text(const Image& image, const Size& most, Ink ink);

}  // namespace quern::picture
