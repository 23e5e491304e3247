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

/// One thread that does jobs in the order in which they were added; started with the first. One in which a
/// check fails is reported on standard error and dropped: code that was to be better stays as it is.
class Background {
 public:
  /// At the end the job that is being done is finished, and those after it are begun for as long as
  /// `patience` lasts; the others are dropped. Where the process does not wait (abandoned.h), a job that takes much longer
  /// is left behind.
  explicit Background(std::chrono::milliseconds patience) : patience_(patience) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(std::function<void()> job);
  /// Returns when every job that was added is done.
  void wait_until_idle();

 private:
  using Clock = std::chrono::steady_clock;
  /// What the thread has, also where it is left behind.
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
