#pragma once
// Work that nobody waits for.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace quern::codegen {

/// One thread that runs jobs in order; started with the first job. A job in which a check fails is reported
/// on standard error and dropped: the code that it was to improve stays as it is.
class Background {
 public:
  /// On destruction the current job is finished, and further jobs are started until `patience` runs out; the
  /// rest are dropped. If the process does not wait (abandoned.h), a job that takes much longer is abandoned.
  explicit Background(std::chrono::milliseconds patience) : patience_(patience) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(std::function<void()> job);
  /// Returns when all added jobs are done.
  void wait_until_idle();

 private:
  using Clock = std::chrono::steady_clock;
  /// The thread's state, which it keeps even if abandoned.
  struct Queue {
    std::mutex mutex{};
    std::condition_variable changed{};
    std::deque<std::function<void()>> jobs{};
    bool is_busy = false, is_ending = false, has_ended = false;
    Clock::time_point deadline{};  ///< once it is ending

    void run();
    void perform_all();
  };

  const std::chrono::milliseconds patience_;
  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  std::thread thread_;
};

}  // namespace quern::codegen
