#pragma once
// A process that evaluates for the server, within limits. It can be killed at any time.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace quern::lsp {

struct Spawned;

class Worker {
 public:
  enum class Ending : uint8_t {
    Finished,
    TimedOut,
    Stopped,
    Failed,  ///< it could not be started, ended by a signal, or its exit code is not 0
  };
  /// Called on the worker's own thread: `line` for each line of its output, then `end` once, with the message of a
  /// failure.
  struct Events {
    std::function<void(std::string)> line;
    std::function<void(Ending, std::string)> end;
  };

  /// Starts a command, given as words, with an input, and kills it at the time limit.
  Worker(std::vector<std::string> command, std::string input, std::chrono::milliseconds limit, Events events);
  /// Kills the process if it still runs.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Kills the process; from any thread. `end` follows.
  void stop();

 private:
  void run();
  Ending read_lines(Spawned& child, std::chrono::steady_clock::time_point until);
  void take(std::string_view received);

  const std::vector<std::string> command_;
  const std::string input_;
  const std::chrono::milliseconds limit_;
  Events events_;
  std::string line_;  ///< the beginning of the next one
  int wake_ = -1;     ///< an event counter that ends waiting
  std::thread thread_;
};

}  // namespace quern::lsp
