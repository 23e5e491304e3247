#include "jit/runtime/threads.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

namespace quern {

namespace {

int first_count() {
  const char* wanted = std::getenv("QUERN_THREADS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 0;
  return count > 0 ? count : std::max(1, tbb::info::default_concurrency());
}

std::atomic<int>& count_of_threads() {
  static std::atomic<int> count = first_count();
  return count;
}

/// Never destroyed, since a kernel may run until the process ends. There may be more threads than cores: of
/// the limits that are set, oneTBB takes the lowest, so there is one.
tbb::task_arena& arena_of(int threads) {
  static std::mutex mutex;
  static auto* arenas = new std::map<int, tbb::task_arena>;
  static tbb::global_control* limit = nullptr;
  static int most = tbb::info::default_concurrency();
  const std::lock_guard lock(mutex);
  if (threads > most) {
    delete limit;
    limit =
        new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
    most = threads;
  }
  return arenas->try_emplace(threads, threads).first->second;
}

}  // namespace

int thread_count() { return count_of_threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) { count_of_threads().store(std::max(1, count)); }

void for_each_part(int64_t count, const std::function<void(int64_t begin, int64_t end)>& body) {
  const int threads = thread_count();
  if (threads == 1 || count < 2) return body(0, count);
  constexpr int64_t kPartsPerThread = 4;
  const int64_t grain = std::max<int64_t>(1, count / (threads * kPartsPerThread));
  arena_of(threads).execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, count, static_cast<size_t>(grain)),
                      [&](const tbb::blocked_range<int64_t>& part) { body(part.begin(), part.end()); });
  });
}

}  // namespace quern
