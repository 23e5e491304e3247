#pragma once
// How a fuzzer ends where a claim does not hold.

#include <cstdio>
#include <cstdlib>
#include <string>

namespace quern::fuzz {

/// Prints the claim that is broken and the texts that show it, and aborts.
template <typename... Texts>
[[noreturn]] void fail(const char* claim, const Texts&... texts) {
  std::fprintf(stderr, "%s:\n", claim);
  (std::fprintf(stderr, "%s\n", std::string(texts).c_str()), ...);
  std::abort();
}

}  // namespace quern::fuzz
