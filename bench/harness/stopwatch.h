#pragma once
// Time that a piece of work takes, and whether it had its cores for all of it.

#include <sys/resource.h>

#include <ctime>

namespace quern::bench {

inline double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds of a clock that never goes back.
inline double now() { return seconds_of(CLOCK_MONOTONIC); }

struct Sample {
  double seconds = 0;
  bool disturbed = false;  ///< another process had one of the cores meanwhile
};

/// Runs from its making.
class Stopwatch {
 public:
  /// `threads`: how many the work keeps busy.
  explicit Stopwatch(int threads) : threads_(threads) {}

  Sample sample() const {
    double seconds = now() - start_, busy = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - busy_;
    return {seconds, preemptions() > preemptions_ && busy < kUndisturbed * threads_ * seconds};
  }

 private:
  static constexpr double kUndisturbed = 0.97;
  static long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
  }

  int threads_;
  long preemptions_ = preemptions();
  double busy_ = seconds_of(CLOCK_PROCESS_CPUTIME_ID), start_ = now();
};

}  // namespace quern::bench
