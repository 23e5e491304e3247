#pragma once
// Work that nobody waits for.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace quern::codegen {

/// One thread that does jobs in the order in which they were added; started with the first. One in which a
/// check fails is reported on standard error and dropped: code that was to be better stays as it is.
class Background {
 public:
  /// At the end the job that is being done is finished, and those after it are begun for as long as
  /// `patience` lasts; the others are dropped.
  explicit Background(std::chrono::milliseconds patience) : patience_(patience) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(std::function<void()> job);
  /// Returns when every job that was added is done.
  void wait_until_idle();

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool is_busy_ = false, is_ending_ = false;
  Clock::time_point deadline_;  ///< once it is ending
  std::thread thread_;
};

}  // namespace quern::codegen
