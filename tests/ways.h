#pragma once
// The ways to a program's values, which are the same in all of them.

#include <filesystem>
#include <vector>

#include "jit/runtime/threads.h"
#include "session/run/execution.h"

namespace quern {

struct Way {
  const char* name;
  Tiers tiers = Tiers::Best;
  int threads = 1;
  bool checks_bounds = false;
  bool on_disk = false;  ///< with the cache of code, first as it is and then with the program's code in it
};

/// Those that compiled code takes.
inline const std::vector<Way>& compiled_ways() {
  static const std::vector<Way> ways{
      {"the best code"},
      {"the first code", Tiers::First},
      {"the best code on two threads", Tiers::Best, 2},
      {"code that checks bounds", Tiers::First, 1, true},
      {"the best code, checking bounds, on two threads", Tiers::Best, 2, true},
      {"code on disk", Tiers::Best, 1, false, true},
  };
  return ways;
}

/// What makes an execution go that way, `cache` being the file of code on disk; its threads are the process's.
inline ExecutionOptions execution_in(const Way& way, const std::filesystem::path& cache = {}) {
  set_thread_count(way.threads);
  ExecutionOptions options;
  options.compiler.tiers = way.tiers;
  options.compiler.checks_bounds = way.checks_bounds;
  options.compiler.cache = way.on_disk ? cache : std::filesystem::path();
  return options;
}

}  // namespace quern
