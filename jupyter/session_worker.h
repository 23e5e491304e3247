#pragma once
// The session of a notebook on the thread that owns it. The server's thread submits work and publishes its output while
// it runs.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "repl/repl.h"

namespace quern {

class Workspace;

namespace jupyter {

class SessionWorker {
 public:
  using ShowPicture = decltype(ReplOptions::show_picture);
  /// `show_picture` is called on the session's thread.
  explicit SessionWorker(ShowPicture show_picture);
  ~SessionWorker();
  SessionWorker(const SessionWorker&) = delete;
  SessionWorker& operator=(const SessionWorker&) = delete;

  using Work = std::function<void(Workspace& workspace)>;
  /// Runs the work on the session's thread. Calls `meanwhile` about 20 times a second until it is done, and once after.
  void run(
      const Work& work, const std::function<void()>& meanwhile = [] {});

 private:
  int serve();

  const ShowPicture show_picture_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Work* work_ = nullptr;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace jupyter
}  // namespace quern
