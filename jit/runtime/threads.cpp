#include "jit/runtime/threads.h"

#include <immintrin.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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

/// Never destroyed, since a kernel may run until the process ends. There may be more threads than cores.
/// oneTBB takes the lowest of all limits, so there is only one.
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

/// A helper on the caller's core would wait for the caller, which waits for it.
void leave_core(int core) {
  if (sched_getcpu() != core) return;
  cpu_set_t all, others;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
}

/// Yields occasionally, since others may need the core.
void wait(int turn) {
  if (turn % 64 == 63) {
    std::this_thread::yield();
  } else {
    _mm_pause();
  }
}

/// A caller with steps to share and its helpers: tasks of an arena that spin for a while after a job, waiting
/// for the next one, since waking a thread takes as long as a small kernel.
///
/// Each has a stretch of consecutive steps. It takes the first three quarters, then three quarters of the
/// rest, and at last steals half of another's remainder, from its end: late or slow threads delay nobody, and
/// adjacent writes by different threads are rare. A job moves few cache lines between cores: a helper polls
/// only its own stretch until it has work.
class Team {
 public:
  using Body = std::function<void(int64_t begin, int64_t end)>;
  static constexpr int kMostThreads = 64;

  static Team& one() {
    static auto* team = new Team;
    return *team;
  }

  /// Requires `busy`.
  void run(const Body& body, int64_t count, int64_t least, int threads) {
    constexpr int64_t kPartsPerThread = 8;
    const int64_t unit = count / kMostUnits + 1, units = (count + unit - 1) / unit;
    job_.body.store(&body, std::memory_order_relaxed);
    job_.count.store(count, std::memory_order_relaxed);
    job_.unit.store(unit, std::memory_order_relaxed);
    job_.least.store(std::max({least / unit, units / (threads * kPartsPerThread), int64_t{1}}),
                     std::memory_order_relaxed);
    job_.threads.store(threads, std::memory_order_relaxed);
    job_.caller_core.store(sched_getcpu(), std::memory_order_relaxed);
    undone_.store(units, std::memory_order_relaxed);
    number_ = (number_ + 1) % kNumbers;
    for (int k = threads; k-- > 0;)
      at(k).store(pack({number_, units * k / threads, units * (k + 1) / threads}), std::memory_order_release);
    for (int k = 1; k < threads; ++k) call(k, threads);
    work(0);
    // A helper woken on this core gets to run, and leaves the core.
    if (awaited_.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
    for (int turn = 0; undone_.load(std::memory_order_acquire) != 0; ++turn) wait(turn);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  std::mutex busy;  ///< one job at a time

 private:
  // A stretch in one word, tagged with its job's number, so that nobody takes a part of a different job than
  // it saw.
  static constexpr int kUnitBits = 24;
  static constexpr int64_t kMostUnits = (int64_t{1} << kUnitBits) - 1;
  static constexpr uint64_t kNumbers = uint64_t{1} << 16;
  struct Stretch {
    uint64_t number;
    int64_t begin, end;
  };
  struct alignas(64) Line {
    std::atomic<uint64_t> word = 0;
  };
  /// Read only by holders of a part, since the job cannot end before the part is done.
  struct alignas(64) Job {
    std::atomic<const Body*> body = nullptr;
    std::atomic<int64_t> count = 0, unit = 1, least = 1;  ///< steps; steps per unit; units per part
    std::atomic<int> threads = 0, caller_core = 0;
  };

  static uint64_t pack(Stretch s) {
    return s.number << (2 * kUnitBits) | static_cast<uint64_t>(s.begin) << kUnitBits |
           static_cast<uint64_t>(s.end);
  }
  static Stretch unpack(uint64_t word) {
    return {word >> (2 * kUnitBits), static_cast<int64_t>(word >> kUnitBits & kMostUnits),
            static_cast<int64_t>(word & kMostUnits)};
  }
  std::atomic<uint64_t>& at(int thread) { return stretches_[static_cast<size_t>(thread)].word; }
  bool has_work(int thread) {
    const Stretch s = unpack(at(thread).load(std::memory_order_relaxed));
    return s.begin < s.end;
  }

  /// Starts a helper, unless it is running.
  void call(int helper, int threads) {
    const uint64_t bit = uint64_t{1} << helper;
    if ((present_.load(std::memory_order_relaxed) & bit) != 0 || (present_.fetch_or(bit) & bit) != 0) return;
    awaited_.fetch_or(bit);
    // The thread sanitizer does not see how oneTBB hands the number over.
    arena_of(threads).enqueue([helper]() __attribute__((no_sanitize_thread)) { one().help(helper); });
  }

  void help(int self) {
    constexpr std::chrono::microseconds kPatience{200};
    auto last = std::chrono::steady_clock::now();
    awaited_.fetch_and(~(uint64_t{1} << self));
    leave_core(job_.caller_core.load(std::memory_order_relaxed));
    for (int turn = 0;; ++turn) {
      if (has_work(self) || (turn % 16 == 0 && has_work(0))) {
        leave_core(job_.caller_core.load(std::memory_order_relaxed));
        work(self);
        last = std::chrono::steady_clock::now();
      } else if (turn % 16 == 0 && std::chrono::steady_clock::now() - last > kPatience) {
        break;
      }
      wait(turn);
    }
    present_.fetch_and(~(uint64_t{1} << self));
  }

  /// Executes parts of its own stretch and then of others', until none is left. Only the caller assigns
  /// stretches: a stolen part is executed at once, as it may belong to the next job, whose stretches are
  /// being written.
  void work(int self) {
    std::optional<Stretch> part;
    while ((part = part_of(self, true)) || (part = steal(self))) perform(*part);
  }

  /// An exception of a part is rethrown to the caller once all parts are done.
  void perform(Stretch part) {
    const int64_t unit = job_.unit.load(std::memory_order_relaxed);
    try {
      (*job_.body.load(std::memory_order_relaxed))(
          part.begin * unit, std::min(job_.count.load(std::memory_order_relaxed), part.end * unit));
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (!failure_) failure_ = std::current_exception();
    }
    undone_.fetch_sub(part.end - part.begin, std::memory_order_release);
  }

  /// Steals a part of another's stretch.
  std::optional<Stretch> steal(int self) {
    const int threads = job_.threads.load(std::memory_order_relaxed);
    for (int k = 0; k < threads; ++k)
      if (const auto part = k == self ? std::nullopt : part_of(k, false)) return part;
    return std::nullopt;
  }

  /// A part from the start of a stretch for its owner, from the end for others.
  std::optional<Stretch> part_of(int thread, bool is_own) {
    std::atomic<uint64_t>& word = at(thread);
    const int64_t least = job_.least.load(std::memory_order_relaxed);
    uint64_t seen = word.load(std::memory_order_acquire);
    while (true) {
      const auto [number, begin, end] = unpack(seen);
      if (begin >= end) return std::nullopt;
      const int64_t left = end - begin;
      const int64_t size = std::min(left, std::max(least, is_own ? 3 * left / 4 : (left + 1) / 2));
      const Stretch part{number, is_own ? begin : end - size, is_own ? begin + size : end};
      const Stretch rest{number, is_own ? begin + size : begin, is_own ? end : end - size};
      if (word.compare_exchange_weak(seen, pack(rest), std::memory_order_acq_rel)) return part;
    }
  }

  std::array<Line, kMostThreads> stretches_;
  Job job_;
  alignas(64) std::atomic<int64_t> undone_ = 0;    ///< unfinished units of the job
  alignas(64) std::atomic<uint64_t> present_ = 0;  ///< running helpers, one bit each
  std::atomic<uint64_t> awaited_ = 0;              ///< helpers called but not yet running
  uint64_t number_ = 0;
  std::mutex failing_;
  std::exception_ptr failure_;  ///< the job's first failure, until its end
};

}  // namespace

int thread_count() { return count_of_threads().load(std::memory_order_relaxed); }

void set_thread_count(int count) { count_of_threads().store(std::max(1, count)); }

void for_each_part(int64_t count, int64_t least,
                   const std::function<void(int64_t begin, int64_t end)>& body) {
  const int threads =
      static_cast<int>(std::min<int64_t>(thread_count(), count / std::max<int64_t>(least, 1)));
  if (threads < 2) return body(0, count);
  // Nested calls, and a second caller while another has the helpers, run alone.
  thread_local bool is_busy = false;
  const std::unique_lock alone =
      is_busy ? std::unique_lock<std::mutex>() : std::unique_lock(Team::one().busy, std::try_to_lock);
  if (!alone.owns_lock()) return body(0, count);
  struct Busy {
    Busy() { is_busy = true; }
    ~Busy() { is_busy = false; }
  } busy;
  Team::one().run(body, count, least, threads);
}

}  // namespace quern
