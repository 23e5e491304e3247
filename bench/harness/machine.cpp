#include "bench/harness/machine.h"

#include <sched.h>

#include <csignal>

#include "jit/runtime/threads.h"
#include "repl/session_thread.h"

namespace quern::bench {

namespace {

// This process, and those that it starts.
void stay_on_one_core() {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  // Interrupts tend to be on the first core.
  for (int core = CPU_SETSIZE - 1; core >= 0; --core)
    if (CPU_ISSET(core, &allowed)) {
      CPU_SET(core, &one);
      break;
    }
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

int run_with(int threads, const std::function<int()>& bench) {
  // A library that has crashed shows at its next answer.
  std::signal(SIGPIPE, SIG_IGN);
  if (threads == 1) stay_on_one_core();
  set_thread_count(threads);
  return on_session_thread(bench);
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

}  // namespace quern::bench
