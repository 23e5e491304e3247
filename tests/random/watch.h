#pragma once
// Tells which program ran where one ends the process or does not end.

#include <csignal>
#include <cstdint>

namespace quern::random_programs {

/// While it lives, SIGSEGV and more than two minutes of work print the number of the program under way.
class Watch {
 public:
  explicit Watch(uint64_t seed);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

}  // namespace quern::random_programs
