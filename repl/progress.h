#pragma once
// What long work has done so far, on one line of standard error.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "ir/base/counted_work.h"

namespace quern {

/// "reading a.npz  1.2 of 4.0 GiB  30 %  2.1 GiB/s  1.3 s left", `elapsed` since it began; "" of work without a name.
std::string progress_text(const CountedWork::State& work, std::chrono::nanoseconds elapsed);

/// Where standard error is a terminal, an input that works for half a second has a line there, ten times a second
/// anew at the most. It is gone when the work ends. There is one of these at a time.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// An input is worked on while it lives. To begin and to end one costs next to nothing: the thread that looks is
  /// there already, and asleep between inputs.
  class Input {
   public:
    explicit Input(ProgressLine& line);
    ~Input();
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

   private:
    ProgressLine& line_;
  };

  /// While it lives there is no line: for what is printed meanwhile.
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
