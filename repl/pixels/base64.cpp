#include "repl/pixels/base64.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quern::picture {

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr size_t kBytes = 3, kCharacters = 4;
  std::string text;
  text.reserve((bytes.size() + kBytes - 1) / kBytes * kCharacters);
  for (size_t at = 0; at < bytes.size(); at += kBytes) {
    const size_t count = std::min(kBytes, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < kBytes; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < kCharacters; ++i)
      text += i <= count ? kDigits[group >> (6 * (kCharacters - 1 - i)) & 0x3f] : '=';
  }
  return text;
}

}  // namespace quern::picture
