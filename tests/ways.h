#pragma once
// The ways to a program's values, which are the same in all of them.

#include <filesystem>
#include <string>
#include <vector>

#include "jit/runtime/separate_memory.h"
#include "jit/runtime/threads.h"
#include "session/run/execution.h"
#include "session/run/measures.h"

namespace quern {

struct Way {
  const char* name;
  Tiers tiers = Tiers::Best;
  int threads = 1;
  bool checks_bounds = false;
  bool on_disk = false;  ///< with the cache of code, first as it is and then with the program's code in it
  std::vector<std::string> left_out{};  ///< measures that only make programs faster
  const char* features = "";            ///< of the machine's, by LLVM's names
  const char* devices = "";             ///< besides the host, with memory of their own
};

/// Vectors of 128 bits: short extents fill them, which leaves less to the loops beside.
constexpr const char* kNarrowVectors = "-avx";

/// Those that compiled code takes.
inline const std::vector<Way>& compiled_ways() {
  static const std::vector<Way> ways{
      {"the best code"},
      {"the first code", Tiers::First},
      {"the best code on two threads", Tiers::Best, 2},
      {"code that checks bounds", Tiers::First, 1, true},
      {"the best code, checking bounds, on two threads", Tiers::Best, 2, true},
      {"code on disk", Tiers::Best, 1, false, true},
      {"code without fusion", Tiers::First, 1, true, false, {"fuse", "fuse_rows"}},
      {"code without other measures",
       Tiers::First,
       1,
       true,
       false,
       {"order_axes", "hoist_from_loops", "prepacked", "in_place", "storage"}},
      {"code on two devices", Tiers::First, 1, true, false, {}, "", "cpu:1"},
      {"code with narrow vectors", Tiers::First, 1, true, false, {}, kNarrowVectors},
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
  options.compiler.features = way.features;
  options.compiler.execution.poisons_memory = true;
  options.compiler.execution.devices = separate_devices(way.devices);
  for (const std::string& measure : way.left_out) leave_out(measure, options.compiler);
  return options;
}

}  // namespace quern
