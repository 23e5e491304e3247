#include "repl/pixels/palette.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

namespace quern::picture {

namespace {

constexpr size_t kChannels = 3;

/// A colour of the raster, and how many pixels have it.
struct Counted {
  uint32_t colour;
  uint64_t pixels;

  int channel(size_t number) const { return static_cast<int>(colour >> (8 * number) & 0xff); }
};

/// Colours that become one, unless they are parted.
class Box {
 public:
  explicit Box(std::span<Counted> colours) : colours_(colours) {
    for (size_t c = 0; c < kChannels; ++c) {
      const auto [least, greatest] =
          std::ranges::minmax(colours_, {}, [c](const Counted& colour) { return colour.channel(c); });
      const int extent = greatest.channel(c) - least.channel(c);
      if (extent <= extent_) continue;
      extent_ = extent;
      longest_ = c;
    }
    for (const Counted& colour : colours_) pixels_ += colour.pixels;
  }

  std::span<const Counted> colours() const { return colours_; }
  /// How much there is to gain by parting it.
  uint64_t weight() const { return pixels_ * static_cast<uint64_t>(extent_); }

  /// In the middle of its pixels along its longest side; it has two colours at least.
  std::pair<Box, Box> parted() const {
    std::ranges::sort(colours_, {}, [this](const Counted& colour) { return colour.channel(longest_); });
    size_t first = 0;
    uint64_t before = 0;
    while (first + 1 < colours_.size() && (first == 0 || 2 * before < pixels_))
      before += colours_[first++].pixels;
    return {Box(colours_.first(first)), Box(colours_.subspan(first))};
  }

  uint32_t mean() const {
    uint32_t mean = 0;
    for (size_t c = 0; c < kChannels; ++c) {
      uint64_t sum = 0;
      for (const Counted& colour : colours_) sum += static_cast<uint64_t>(colour.channel(c)) * colour.pixels;
      mean |= static_cast<uint32_t>((sum + pixels_ / 2) / pixels_) << (8 * c);
    }
    return mean;
  }

 private:
  std::span<Counted> colours_;
  uint64_t pixels_ = 0;
  int extent_ = 0;
  size_t longest_ = 0;
};

std::vector<Counted> colours_in(const Raster& raster) {
  std::unordered_map<uint32_t, uint64_t> counts;
  for (const uint32_t pixel : raster.pixels) ++counts[pixel & 0xffffff];
  std::vector<Counted> colours;
  colours.reserve(counts.size());
  for (const auto& [colour, pixels] : counts) colours.push_back({colour, pixels});
  // The order of a hash table is no order.
  std::ranges::sort(colours, {}, &Counted::colour);
  return colours;
}

}  // namespace

Palette palette_of(const Raster& raster, size_t most) {
  Palette palette;
  std::vector<Counted> colours = colours_in(raster);
  if (colours.empty()) return palette;
  std::vector<Box> boxes{Box(colours)};
  while (boxes.size() < std::min(most, colours.size())) {
    const auto heaviest = std::ranges::max_element(boxes, {}, &Box::weight);
    auto [first, second] = heaviest->parted();
    *heaviest = first;
    boxes.push_back(second);
  }
  std::unordered_map<uint32_t, uint8_t> indices;
  for (const Box& box : boxes) {
    for (const Counted& colour : box.colours())
      indices[colour.colour] = static_cast<uint8_t>(palette.colours.size());
    palette.colours.push_back(box.mean());
  }
  palette.of_pixels.reserve(raster.pixels.size());
  for (const uint32_t pixel : raster.pixels) palette.of_pixels.push_back(indices[pixel & 0xffffff]);
  return palette;
}

}  // namespace quern::picture
