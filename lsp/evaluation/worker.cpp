#include "lsp/evaluation/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "lsp/spawn.h"

namespace quern::lsp {

namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

}  // namespace

Worker::Worker(std::vector<std::string> command, std::string input, std::chrono::milliseconds limit,
               Events events)
    : command_(std::move(command)),
      input_(std::move(input)),
      limit_(limit),
      events_(std::move(events)),
      wake_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { run(); }) {}

Worker::~Worker() {
  stop();
  thread_.join();
  close(wake_);
}

void Worker::stop() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void Worker::run() {
  SpawnOptions options;
  options.input = options.output = SpawnOptions::Stream::Piped;
  options.leads_group = true;
  auto child = spawn(command_, options);
  if (!child) return events_.end(Ending::Failed, child.error().message);
  std::string why;
  Ending ending = read_lines(*child, Clock::now() + limit_);
  // First: a program whose input ends early says so on the server's standard error.
  if (ending != Ending::Finished) kill(-child->id, SIGKILL);
  child->input.close();
  child->output.close();
  int status = 0;
  while (waitpid(child->id, &status, 0) < 0 && errno == EINTR) {
  }
  if (ending == Ending::Finished && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
    ending = Ending::Failed;
    why = WIFSIGNALED(status)
              ? fmt::format("it ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
              : fmt::format("its exit code is {}", WEXITSTATUS(status));
  }
  events_.end(ending, std::move(why));
}

/// Writes the input to the process and reads its output, until it closes that or the time limit is reached.
Worker::Ending Worker::read_lines(Spawned& child, Clock::time_point until) {
  fcntl(child.input.number(), F_SETFL, O_NONBLOCK);
  std::string_view rest = input_;
  std::array<char, 16'384> buffer;
  while (true) {
    std::array<pollfd, 3> files{
        {{child.output.number(), POLLIN, 0}, {wake_, POLLIN, 0}, {child.input.number(), POLLOUT, 0}}};
    const int left = milliseconds_until(until);
    if (left == 0) return Ending::TimedOut;
    if (poll(files.data(), files.size(), left) < 0 && errno != EINTR) return Ending::Stopped;
    if (files[1].revents != 0) return Ending::Stopped;
    if (files[2].revents != 0) {
      const ssize_t count = write(child.input.number(), rest.data(), rest.size());
      if (count > 0) rest.remove_prefix(static_cast<size_t>(count));
      if (rest.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) child.input.close();
    }
    if (files[0].revents == 0) continue;
    const ssize_t count = read(child.output.number(), buffer.data(), buffer.size());
    if (count == 0) return Ending::Finished;
    if (count > 0) take({buffer.data(), static_cast<size_t>(count)});
  }
}

void Worker::take(std::string_view received) {
  for (size_t end; (end = received.find('\n')) != std::string_view::npos; received.remove_prefix(end + 1)) {
    line_ += received.substr(0, end);
    events_.line(std::exchange(line_, ""));
  }
  line_ += received;
}

}  // namespace quern::lsp
