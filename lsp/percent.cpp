#include "lsp/percent.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace quern::lsp {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kKept = "/-._~";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool kept = byte < 0x80 && (std::isalnum(byte) != 0 || kKept.find(c) != std::string_view::npos);
    out += kept ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace quern::lsp
