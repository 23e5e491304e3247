#pragma once
// A program that a test talks to over pipes. No call waits longer than half a minute.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lsp/spawn.h"

namespace quern {

/// Appends what comes from a file; false at its end, and where nothing comes in time.
inline bool read_some(int from, std::string& to) {
  constexpr int kPatienceMs = 30'000;
  pollfd ready{from, POLLIN, 0};
  if (poll(&ready, 1, kPatienceMs) <= 0) return false;
  char chunk[65536];
  const ssize_t got = ::read(from, chunk, sizeof chunk);
  if (got <= 0) return false;
  to.append(chunk, static_cast<size_t>(got));
  return true;
}

class ChildProcess {
 public:
  ChildProcess(const std::vector<std::string>& command, const lsp::SpawnOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    auto child = lsp::spawn(command, options);
    if (child)
      child_ = std::move(*child);
    else
      ADD_FAILURE() << child.error().message;
  }
  /// Ends the process if it still runs.
  ~ChildProcess() {
    if (child_.id < 0) return;
    send(SIGKILL);
    waitpid(child_.id, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return child_.id; }
  void send(int signal) const { kill(child_.id, signal); }
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(child_.input.number(), bytes.data(), bytes.size());
      if (written < 0) return;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  /// Appends what it writes; false as in `read_some`.
  bool read(std::string& to) { return read_some(child_.output.number(), to); }
  void close_input() { child_.input.close(); }
  /// The exit code; nothing where the process does not end in time or ends by a signal.
  std::optional<int> exit_code() {
    constexpr std::chrono::milliseconds kStep{5}, kPatience{30'000};
    for (auto waited = kStep; waited < kPatience && child_.id >= 0; waited += kStep) {
      int status = 0;
      if (waitpid(child_.id, &status, WNOHANG) == child_.id) {
        child_.id = -1;
        return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
      }
      std::this_thread::sleep_for(kStep);
    }
    return std::nullopt;
  }
  /// The processes that it has started and that have not ended.
  std::vector<pid_t> children() const {
    std::vector<pid_t> found;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", child_.id))) {
      std::ifstream of_thread(task.path() / "children");
      for (pid_t child = 0; of_thread >> child;) found.push_back(child);
    }
    return found;
  }

 private:
  lsp::Spawned child_;
};

}  // namespace quern
