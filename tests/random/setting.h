#pragma once
// Settings of the tests, from the environment.

#include <cstdint>
#include <cstdlib>

namespace quern::random_programs {

inline uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace quern::random_programs
