#include "repl/picture/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "ir/base/interrupt.h"

namespace quern::picture {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// How the elements of a tensor are the pixels of an image.
struct Layout {
  int64_t height, width, channels, y_stride, x_stride, channel_stride;
};

std::optional<Layout> layout_of(Shape shape) {
  while (shape.size() > 2 && shape[0] == 1) shape.erase(shape.begin());
  const auto is_channels = [](int64_t extent) { return extent == 1 || extent == 3 || extent == 4; };
  if (std::ranges::find(shape, 0) != shape.end()) return std::nullopt;
  if (shape.size() == 2) return Layout{shape[0], shape[1], 1, shape[1], 1, 1};
  if (shape.size() != 3) return std::nullopt;
  if (is_channels(shape[0])) return Layout{shape[1], shape[2], shape[0], shape[2], 1, shape[1] * shape[2]};
  if (is_channels(shape[2])) return Layout{shape[0], shape[1], shape[2], shape[1] * shape[2], shape[2], 1};
  return std::nullopt;
}

void choose_range(Image& image, DType dtype) {
  constexpr double kByte = 255;
  image.black = 0;
  image.white = dtype.bits == 8 && !dtype.is_signed() ? kByte : 1;
  if (dtype.is_bool() || image.white == kByte) return;
  float least = std::numeric_limits<float>::infinity(), greatest = -least;
  for (const float number : image.numbers) {
    if (!std::isfinite(number)) continue;
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
  if (least > greatest) return;
  if (image.channels == 3 && least >= 0 && greatest <= kByte) {
    image.white = greatest <= 1 ? 1 : kByte;
    return;
  }
  image.black = least;
  image.white = greatest > least ? greatest : least + 1;
}

// --- another size -------------------------------------------------------------------------------

/// The extents that an image is shown in: in pixels, two of which are a character's height.
std::pair<int64_t, int64_t> shown_extents(const Image& image, const Size& most) {
  constexpr int64_t kSmall = 40, kMostEnlarged = 8;
  const double across = static_cast<double>(most.columns) / static_cast<double>(image.width),
               down = 2.0 * most.rows / static_cast<double>(image.height);
  const double scale = std::min(across, down);
  if (scale < 1) {
    const auto scaled = [&](int64_t extent) {
      return std::max<int64_t>(1, std::lround(static_cast<double>(extent) * scale));
    };
    return {scaled(image.width), scaled(image.height)};
  }
  const int64_t factor = std::clamp<int64_t>(kSmall / std::max(image.width, image.height), 1,
                                             std::min(kMostEnlarged, static_cast<int64_t>(scale)));
  return {image.width * factor, image.height * factor};
}

// --- ink ----------------------------------------------------------------------------------------

constexpr int kLevels = 255;
constexpr Colour kNoNumber{255, 0, 255};

/// The nearest of xterm's colours: a cube of six levels, and 24 greys.
int palette_index(const Colour& colour) {
  constexpr std::array<int, 6> kCube{0, 95, 135, 175, 215, 255};
  constexpr int kCubeBegin = 16, kGreyBegin = 232, kGreys = 24;
  const auto distance = [&](const Colour& other) {
    int sum = 0;
    for (size_t c = 0; c < 3; ++c) sum += (colour[c] - other[c]) * (colour[c] - other[c]);
    return sum;
  };
  Colour in_cube{};
  int index = 0;
  for (size_t c = 0; c < 3; ++c) {
    const auto* nearest =
        std::ranges::min_element(kCube, {}, [&](int level) { return std::abs(level - colour[c]); });
    in_cube[c] = *nearest;
    index = 6 * index + static_cast<int>(nearest - kCube.begin());
  }
  const int grey = std::clamp(((colour[0] + colour[1] + colour[2]) / 3 - 3) / 10, 0, kGreys - 1);
  const int level = 8 + 10 * grey;
  return distance({level, level, level}) < distance(in_cube) ? kGreyBegin + grey : kCubeBegin + index;
}

/// The escape sequence of a colour; `ground` is 38 for characters, 48 for what is behind them.
std::string escape(const Colour& colour, int ground, Ink ink) {
  if (ink == Ink::Palette) return fmt::format("\x1b[{};5;{}m", ground, palette_index(colour));
  return fmt::format("\x1b[{};2;{};{};{}m", ground, colour[0], colour[1], colour[2]);
}

std::string coloured_row(const Image& image, int64_t y, Ink ink) {
  std::string line, front, behind;
  for (int64_t x = 0; x < image.width; ++x) {
    const auto upper = colour_at(image, x, y), lower = colour_at(image, x, y + 1);
    if (std::string wanted = escape(*upper, 38, ink); wanted != front) line += front = std::move(wanted);
    if (lower) {
      std::string wanted = escape(*lower, 48, ink);
      if (wanted != behind) line += behind = std::move(wanted);
    }
    line += "▀";
  }
  return line + "\x1b[0m\n";
}

std::string text_row(const Image& image, int64_t y) {
  constexpr std::string_view kRamp = " .:-=+*#%@";
  std::string line;
  for (int64_t x = 0; x < image.width; ++x) {
    double light = 0;
    int count = 0;
    bool is_number = true;
    for (const auto& colour : {colour_at(image, x, y), colour_at(image, x, y + 1)}) {
      if (!colour) continue;
      is_number = is_number && *colour != kNoNumber;
      // Rec. 601.
      light += 0.299 * (*colour)[0] + 0.587 * (*colour)[1] + 0.114 * (*colour)[2];
      ++count;
    }
    const double level = light / count / kLevels * static_cast<double>(kRamp.size() - 1);
    line += is_number ? kRamp[static_cast<size_t>(std::lround(level))] : '?';
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::optional<Colour> colour_at(const Image& image, int64_t x, int64_t y) {
  if (y >= image.height) return std::nullopt;
  Colour colour{};
  for (size_t c = 0; c < 3; ++c) {
    const size_t channel = image.channels == 3 ? c : 0;
    const float number = image.numbers[static_cast<size_t>((y * image.width + x) * image.channels) + channel];
    if (!std::isfinite(number)) return kNoNumber;
    colour[c] = static_cast<int>(std::lround(std::clamp(number, 0.0F, 1.0F) * kLevels));
  }
  return colour;
}

std::optional<Image> image_of(const HostTensor& tensor) {
  const auto layout = tensor.dtype().is_vector() ? std::nullopt : layout_of(tensor.shape());
  if (!layout) return std::nullopt;
  Image image{.width = layout->width, .height = layout->height, .channels = layout->channels == 1 ? 1 : 3};
  const bool has_opacity = layout->channels == 4;
  std::vector<float> opacities;
  // A growing vector would be copied, and an interrupt would wait for it.
  image.numbers.reserve(static_cast<size_t>(image.width * image.height * image.channels));
  for (int64_t y = 0; y < image.height && !is_interrupted(); ++y)
    for (int64_t x = 0; x < image.width; ++x) {
      const int64_t pixel = y * layout->y_stride + x * layout->x_stride;
      const auto at = [&](int64_t c) {
        const double number = element_as_double(tensor, pixel + c * layout->channel_stride);
        return std::isfinite(number) ? static_cast<float>(number) : kNan;
      };
      for (int c = 0; c < image.channels; ++c) image.numbers.push_back(at(c));
      if (has_opacity) opacities.push_back(at(3));
    }
  if (is_interrupted()) return image;
  choose_range(image, tensor.dtype());
  for (size_t i = 0; i < image.numbers.size() && !is_interrupted(); ++i) {
    float& number = image.numbers[i];
    number = static_cast<float>((number - image.black) / (image.white - image.black));
    if (has_opacity) number *= static_cast<float>(opacities[i / 3] / image.white);
  }
  return image;
}

Image resized(const Image& image, int64_t width, int64_t height) {
  Image out{.width = width, .height = height, .channels = image.channels};
  const auto channels = static_cast<int64_t>(image.channels);
  const auto range = [](int64_t at, int64_t from, int64_t to) {
    const int64_t begin = at * from / to;
    return std::pair(begin, std::max(begin + 1, (at + 1) * from / to));
  };
  out.numbers.reserve(static_cast<size_t>(width * height * channels));
  for (int64_t y = 0; y < height && !is_interrupted(); ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < channels; ++c) {
        const auto [top, bottom] = range(y, image.height, height);
        const auto [left, right] = range(x, image.width, width);
        double sum = 0;
        for (int64_t i = top; i < bottom; ++i)
          for (int64_t j = left; j < right; ++j)
            sum += image.numbers[static_cast<size_t>((i * image.width + j) * channels + c)];
        out.numbers.push_back(static_cast<float>(sum / static_cast<double>((bottom - top) * (right - left))));
      }
  out.numbers.resize(static_cast<size_t>(width * height * channels));  // whole after an interrupt too
  return out;
}

std::string image_text(const Image& image, const Size& most, Ink ink) {
  const auto [width, height] = shown_extents(image, most);
  const Image shown = resized(image, width, height);
  std::string text;
  for (int64_t y = 0; y < height; y += 2)
    text += ink == Ink::Text ? text_row(shown, y) : coloured_row(shown, y, ink);
  return text;
}

}  // namespace quern::picture
