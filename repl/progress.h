#pragma once
// The progress of long work, on one line of standard error.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "ir/base/counted_work.h"

namespace quern {

/// "reading a.npz  1.2 of 4.0 GiB  30 %  2.1 GiB/s  1.3 s left", `elapsed` since it began; "" for work without a name.
std::string progress_text(const CountedWork::State& work, std::chrono::nanoseconds elapsed);

/// If standard error is a terminal, an input that runs for half a second gets a line there, updated up to ten times a
/// second and erased when the work ends. There is at most one of these at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Marks an input as running while it lives. Beginning and ending one is cheap: the thread that watches exists already
  /// and sleeps between inputs.
  class Input {
   public:
    explicit Input(ProgressLine& line);
    ~Input();
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

   private:
    ProgressLine& line_;
  };

  /// Hides the line while it lives, so that other output can be printed.
  class Hidden {
   public:
    Hidden();

   private:
    std::unique_lock<std::mutex> lock_;
  };

 private:
  void watch();
  void draw();

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t inputs_ = 0;  ///< that began so far
  bool is_working_ = false, is_asleep_ = false, is_ending_ = false;
  std::thread thread_;
};

}  // namespace quern
