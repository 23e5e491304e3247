#pragma once
// Runs a program to its end, for tests that drive the real binary.

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

struct ProgramOutcome {
  std::string out, err;
  int code = -1;  ///< the exit code; 128 + the signal where one ended it
  bool timed_out = false;
};

namespace program_detail {

/// Replaces the process by the program, in the folder `cwd`.
[[noreturn]] inline void become(const std::vector<std::string>& command, const std::string& cwd) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (chdir(cwd.c_str()) == 0) execv(argv[0], argv.data());
  _exit(127);
}

/// Feeds `input` and gathers both outputs until they are closed; false when the time is up.
inline bool exchange(int in, int out, int err, std::string_view input, std::chrono::milliseconds limit,
                     ProgramOutcome& outcome) {
  auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<pollfd, 3> fds{{{out, POLLIN, 0}, {err, POLLIN, 0}, {input.empty() ? -1 : in, POLLOUT, 0}}};
  if (input.empty()) close(in);
  std::array<char, 4096> buffer;
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    for (size_t i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || !fds[i].revents) continue;
      ssize_t n = read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0)
        (i == 0 ? outcome.out : outcome.err).append(buffer.data(), static_cast<size_t>(n));
      else
        fds[i].fd = -1;
    }
    if (fds[2].fd >= 0 && fds[2].revents) {
      ssize_t n = write(in, input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<size_t>(n));
      if (n < 0 || input.empty()) {
        close(in);
        fds[2].fd = -1;
      }
    }
  }
  return true;
}

}  // namespace program_detail

/// Runs `command` (its first word the path of the program) in the folder `cwd` with `input` as standard
/// input.
inline ProgramOutcome run_program(const std::vector<std::string>& command, const std::string& cwd,
                                  std::string_view input = "",
                                  std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  ProgramOutcome outcome;
  std::array<int, 2> in, out, err;
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0 ||
      pipe2(err.data(), O_CLOEXEC) != 0)
    return outcome;
  signal(SIGPIPE, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    program_detail::become(command, cwd);
  }
  for (int fd : {in[0], out[1], err[1]}) close(fd);
  outcome.timed_out = !program_detail::exchange(in[1], out[0], err[0], input, limit, outcome);
  if (outcome.timed_out) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  close(out[0]);
  close(err[0]);
  return outcome;
}

}  // namespace quern
