#pragma once
// Pictures in pixels, on terminals that take them.

#include <string>
#include <string_view>

#include "repl/picture/picture.h"

namespace quern {

/// Of the rows of a terminal those that a picture may take: the others are for its command and the next prompt.
int rows_beside_prompt(int rows);

/// What makes the terminal show a picture, with the end of its line; empty where it is to be shown in characters.
/// `pictures` is the setting of that name, where `auto` takes what the terminal says that it can. Standard output has to
/// be the terminal that inputs come from; where it is not, nothing is asked.
std::string terminal_pixels(std::string_view pictures, const picture::Picture& picture);

}  // namespace quern
