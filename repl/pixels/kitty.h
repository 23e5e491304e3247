#pragma once
// Pictures for terminals that know kitty's graphics protocol (https://sw.kovidgoyal.net/kitty/graphics-protocol).

#include <string>
#include <string_view>

namespace quern::picture {

/// Shows a PNG at the cursor, which is at the end of its last line then. The terminal does not answer.
std::string to_kitty(std::string_view png);

}  // namespace quern::picture
