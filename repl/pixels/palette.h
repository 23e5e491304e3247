#pragma once
// Few colours in the place of many.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "repl/picture/raster.h"

namespace quern::picture {

struct Palette {
  std::vector<uint32_t> colours;   ///< 0xrrggbb
  std::vector<uint8_t> of_pixels;  ///< by pixels of the raster, which of the colours
};

/// At most `most` colours, up to 256: those of the raster where it has no more, else means of near ones (median cut,
/// Heckbert 1982).
Palette palette_of(const Raster& raster, size_t most = 256);

}  // namespace quern::picture
