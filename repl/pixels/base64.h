#pragma once
// Bytes as text that passes everywhere (RFC 4648).

#include <string>
#include <string_view>

namespace quern::picture {

std::string to_base64(std::string_view bytes);

}  // namespace quern::picture
