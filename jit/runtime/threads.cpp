#include "jit/runtime/threads.h"

#include <immintrin.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

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

/// Steps that threads take part by part.
struct Region {
  const std::function<void(int64_t begin, int64_t end)>& body;
  int64_t count, grain;
  std::atomic<int> seats;  ///< for helpers
  std::atomic<int64_t> next{0};

  void work() {
    while (true) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) return;
      body(begin, std::min(count, begin + grain));
    }
  }
};

/// The caller of a region and its helpers: tasks of an arena that stay for a while after a region and look
/// for the next one, since waking a thread takes as long as a small kernel.
class Team {
 public:
  static Team& one() {
    static auto* team = new Team;
    return *team;
  }

  void run(Region& region, int helpers) {
    region_.store(&region);
    for (int stay = present_.load(); stay < helpers;)
      if (present_.compare_exchange_weak(stay, stay + 1)) {
        arena_of(helpers + 1).enqueue([] { one().help(); });
        ++stay;
      }
    region.work();
    region_.store(nullptr);
    // Who came in before that may still be at a part.
    for (int turn = 0; inside_.load() != 0; ++turn) wait(turn);
  }

  std::mutex busy;  ///< one region at a time

 private:
  void help() {
    constexpr std::chrono::microseconds kPatience{200};
    auto last = std::chrono::steady_clock::now();
    for (int turn = 0;; ++turn) {
      const bool works = region_.load() != nullptr && joins();
      if (works) {
        last = std::chrono::steady_clock::now();
      } else if (turn % 16 == 0 && std::chrono::steady_clock::now() - last > kPatience) {
        break;
      }
      wait(turn);
    }
    present_.fetch_sub(1);
  }

  /// Others may want the core.
  static void wait(int turn) {
    if (turn % 64 == 63) {
      std::this_thread::yield();
    } else {
      _mm_pause();
    }
  }

  /// Whether there was a part left to do.
  bool joins() {
    inside_.fetch_add(1);
    Region* region = region_.load();
    const bool works = region != nullptr && region->next.load(std::memory_order_relaxed) < region->count &&
                       region->seats.fetch_sub(1) > 0;
    if (works) region->work();
    inside_.fetch_sub(1);
    return works;
  }

  std::atomic<Region*> region_ = nullptr;
  std::atomic<int> inside_ = 0;   ///< helpers that may have seen the region
  std::atomic<int> present_ = 0;  ///< helpers
};

}  // namespace

int thread_count() { return count_of_threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) { count_of_threads().store(std::max(1, count)); }

void for_each_part(int64_t count, const std::function<void(int64_t begin, int64_t end)>& body) {
  const int threads = thread_count();
  if (threads == 1 || count < 2) return body(0, count);
  constexpr int64_t kPartsPerThread = 4;
  const int64_t grain = std::max<int64_t>(1, count / (threads * kPartsPerThread));
  // A part that has parts, and a second caller, while another has the helpers.
  thread_local bool is_busy = false;
  const std::unique_lock alone =
      is_busy ? std::unique_lock<std::mutex>() : std::unique_lock(Team::one().busy, std::try_to_lock);
  if (!alone.owns_lock()) return body(0, count);
  Region region{body, count, grain, threads - 1};
  is_busy = true;
  Team::one().run(region, threads - 1);
  is_busy = false;
}

}  // namespace quern
