#pragma once
// Pictures for terminals that know sixels (DEC's VT340, https://vt100.net/docs/vt3xx-gp/chapter14.html).

#include <string>

#include "repl/picture/raster.h"

namespace quern::picture {

/// Shows a raster at the cursor, which is in its last line then. Of colours there are 256, each channel in percent.
std::string to_sixel(const Raster& raster);

}  // namespace quern::picture
