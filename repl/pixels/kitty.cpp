#include "repl/pixels/kitty.h"

#include <fmt/format.h>

#include "repl/pixels/base64.h"

namespace quern::picture {

std::string to_kitty(std::string_view png) {
  constexpr size_t kChunk = 4096;  // characters; the most that the protocol allows
  const std::string text = to_base64(png);
  std::string out;
  for (size_t at = 0; at < text.size(); at += kChunk)
    // Transmitted and shown (a=T), as PNG (f=100), without an answer (q=2); m=1 where more follows.
    out += fmt::format("\x1b_G{}m={};{}\x1b\\", at == 0 ? "a=T,f=100,q=2," : "",
                       at + kChunk < text.size() ? 1 : 0, std::string_view(text).substr(at, kChunk));
  return out;
}

}  // namespace quern::picture
