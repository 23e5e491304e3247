#include "jit/runtime/threads.h"

#include <immintrin.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

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

/// Steps that threads share. Each has a stretch of neighbours, of which it takes the first three quarters,
/// then as many of what is left, and at last half of what another has not begun, from its end: threads that
/// are late or slow delay nobody, and two write side by side at few places only.
class Region {
 public:
  using Body = std::function<void(int64_t begin, int64_t end)>;

  Region(const Body& body, int64_t count, int64_t least, int threads)
      : body_(body), count_(count), unit_(count / kMostUnits + 1), stretches_(static_cast<size_t>(threads)) {
    constexpr int64_t kPartsPerThread = 8;
    const int64_t units = (count + unit_ - 1) / unit_;
    least_ = std::max({least / unit_, units / (threads * kPartsPerThread), int64_t{1}});
    for (int k = 0; k < threads; ++k)
      stretches_[static_cast<size_t>(k)].units.store(pack({units * k / threads, units * (k + 1) / threads}),
                                                     std::memory_order_relaxed);
  }

  /// What the next of the threads does, until nothing is left; false for one too many, and where nothing was.
  bool work() {
    const size_t own = seats_.fetch_add(1, std::memory_order_relaxed);
    if (own >= stretches_.size()) return false;
    bool worked = false;
    while (const auto part = next(stretches_[own])) {
      body_(part->begin * unit_, std::min(count_, part->end * unit_));
      worked = true;
    }
    return worked;
  }

  /// The core of the thread that waits for the region.
  const int caller_core = sched_getcpu();

 private:
  static constexpr int64_t kMostUnits = int64_t{1} << 30;
  struct Part {
    int64_t begin, end;
  };
  struct alignas(64) Stretch {
    std::atomic<uint64_t> units = 0;  ///< begin and end of what nobody has begun
  };

  static uint64_t pack(Part part) {
    return static_cast<uint64_t>(part.begin) << 32 | static_cast<uint64_t>(part.end);
  }
  static Part unpack(uint64_t units) {
    return {static_cast<int64_t>(units >> 32), static_cast<int64_t>(units & 0xffffffff)};
  }

  /// A part of a stretch: at its begin for who owns it, at its end for others.
  std::optional<Part> part_of(Stretch& stretch, bool is_own) const {
    uint64_t seen = stretch.units.load();
    while (true) {
      const auto [begin, end] = unpack(seen);
      if (begin >= end) return std::nullopt;
      const int64_t left = end - begin;
      const int64_t size = std::min(left, std::max(least_, is_own ? (3 * left + 3) / 4 : (left + 1) / 2));
      const Part part = is_own ? Part{begin, begin + size} : Part{end - size, end};
      const Part rest = is_own ? Part{begin + size, end} : Part{begin, end - size};
      if (stretch.units.compare_exchange_weak(seen, pack(rest))) return part;
    }
  }

  std::optional<Part> next(Stretch& own) {
    if (const auto part = part_of(own, true)) return part;
    for (Stretch& other : stretches_)
      if (const auto part = part_of(other, false)) {
        own.units.store(pack(*part));
        return part_of(own, true);
      }
    return std::nullopt;
  }

  const Body& body_;
  const int64_t count_, unit_;  ///< of steps; steps in a unit
  int64_t least_ = 1;           ///< units in a part
  std::atomic<size_t> seats_ = 0;
  std::vector<Stretch> stretches_;  ///< of each thread
};

/// A helper beside the caller on one core would wait for the caller, who waits for it.
void leave_core(int core) {
  if (sched_getcpu() != core) return;
  cpu_set_t all, others;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
}

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
    bool works = false;
    if (region != nullptr) {
      leave_core(region->caller_core);
      works = region->work();
    }
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

void for_each_part(int64_t count, int64_t least,
                   const std::function<void(int64_t begin, int64_t end)>& body) {
  const int threads =
      static_cast<int>(std::min<int64_t>(thread_count(), count / std::max<int64_t>(least, 1)));
  if (threads < 2) return body(0, count);
  // A part that has parts, and a second caller, while another has the helpers.
  thread_local bool is_busy = false;
  const std::unique_lock alone =
      is_busy ? std::unique_lock<std::mutex>() : std::unique_lock(Team::one().busy, std::try_to_lock);
  if (!alone.owns_lock()) return body(0, count);
  Region region(body, count, least, threads);
  is_busy = true;
  Team::one().run(region, threads - 1);
  is_busy = false;
}

}  // namespace quern
