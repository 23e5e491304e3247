#pragma once
// What long work has done so far, on one line of standard error.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "ir/base/counted_work.h"

namespace quern {

/// "reading a.npz  1.2 of 4.0 GiB  30 %  2.1 GiB/s  1.3 s left", `elapsed` since it began; "" of work without a name.
std::string progress_text(const CountedWork::State& work, std::chrono::nanoseconds elapsed);

/// While it lives and standard error is a terminal, work that goes on for half a second has a line there, ten times a
/// second anew at the most. It is gone when the work ends. There is one at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// While it lives there is no line: for what is printed meanwhile.
  class Hidden {
   public:
    Hidden();

   private:
    std::unique_lock<std::mutex> lock_;
  };

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace quern
