#include "repl/editor/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

namespace quern::editor {

namespace {

constexpr std::string_view kBracketedPasteOn = "\x1b[?2004h", kBracketedPasteOff = "\x1b[?2004l";
constexpr std::string_view kAsBefore = "\x1b[0m\x1b[?25h\x1b[?2004l";
constexpr std::array kNoticed{SIGWINCH, SIGCONT};
constexpr std::array kFatal{SIGTERM, SIGHUP, SIGQUIT};

Terminal* taken = nullptr;
std::array<int, 2> wake{-1, -1};
// The state that a signal handler restores.
termios original_modes;
int original_in = -1, original_out = -1;
std::array<struct sigaction, kNoticed.size()> noticed_before;
std::array<struct sigaction, kFatal.size()> fatal_before;

void on_notice(int) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(wake[1], "!", 1);
  errno = error;
}

void on_end(int signal) {
  tcsetattr(original_in, TCSANOW, &original_modes);
  [[maybe_unused]] const ssize_t written = ::write(original_out, kAsBefore.data(), kAsBefore.size());
  // The action is the default one again.
  raise(signal);
}

void take_signals() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = on_notice;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kNoticed.size(); ++i) sigaction(kNoticed[i], &action, &noticed_before[i]);
  action.sa_handler = on_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < kFatal.size(); ++i) sigaction(kFatal[i], &action, &fatal_before[i]);
}

void give_back_signals() {
  for (size_t i = 0; i < kNoticed.size(); ++i) sigaction(kNoticed[i], &noticed_before[i], nullptr);
  for (size_t i = 0; i < kFatal.size(); ++i) sigaction(kFatal[i], &fatal_before[i], nullptr);
}

}  // namespace

bool Terminal::is_capable(int in, int out) {
  if (!isatty(in) || !isatty(out)) return false;
  const char* name = std::getenv("TERM");
  return name && *name && std::string_view(name) != "dumb";
}

Terminal::Terminal(int in, int out) : in_(in), out_(out) {
  tcgetattr(in_, &original_);
  original_modes = original_;
  original_in = in_;
  original_out = out_;
  if (pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake = {-1, -1};
  taken = this;
  take_signals();
}

Terminal::~Terminal() {
  set_mode(Mode::Original);
  give_back_signals();
  taken = nullptr;
  for (int& fd : wake) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
}

void Terminal::set_mode(Mode mode) {
  termios wanted = original_;
  if (mode != Mode::Original) {
    wanted.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    wanted.c_cc[VMIN] = 1;
    wanted.c_cc[VTIME] = 0;
  }
  if (mode == Mode::Editing) {
    wanted.c_lflag &= ~static_cast<tcflag_t>(ISIG);
    wanted.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  }
  tcsetattr(in_, TCSADRAIN, &wanted);
  if (mode == Mode::Editing && mode_ != Mode::Editing) write(kBracketedPasteOn);
  if (mode != Mode::Editing && mode_ == Mode::Editing) write(kBracketedPasteOff);
  mode_ = mode;
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (ioctl(out_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

void Terminal::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(out_, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd fd{out_, POLLOUT, 0};
      poll(&fd, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return;
    } else if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
}

const Graphics& Terminal::graphics() {
  if (graphics_) return *graphics_;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLimit{100};
  graphics_.emplace();
  const char* name = std::getenv("TERM");
  if (!may_be_asked(name ? name : "")) return *graphics_;
  write(graphics_question());
  std::string bytes;
  GraphicsAnswer answer;
  const auto deadline = Clock::now() + kLimit;
  while (!answer.is_whole) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd fd{in_, POLLIN, 0};
    const int count = left.count() > 0 ? poll(&fd, 1, static_cast<int>(left.count())) : 0;
    if (count < 0 && errno == EINTR) continue;
    std::array<char, 4096> chunk;
    const ssize_t size = count > 0 ? read(in_, chunk.data(), chunk.size()) : 0;
    if (size <= 0) break;
    bytes.append(chunk.data(), static_cast<size_t>(size));
    answer = graphics_answer(bytes);
  }
  kept_ += answer.rest;
  graphics_ = answer.graphics;
  return *graphics_;
}

std::string Terminal::take_kept() { return std::exchange(kept_, {}); }

Terminal::Happened Terminal::wait(int milliseconds) const {
  std::array<pollfd, 2> fds{{{in_, POLLIN, 0}, {wake[0], POLLIN, 0}}};
  int count = poll(fds.data(), fds.size(), milliseconds);
  while (count < 0 && errno == EINTR) count = poll(fds.data(), fds.size(), milliseconds);
  Happened happened{.timeout = count == 0};
  happened.input = (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
  std::array<char, 16> ignored;
  while (wake[0] >= 0 && read(wake[0], ignored.data(), ignored.size()) > 0) happened.resized = true;
  return happened;
}

bool Terminal::has_input() const {
  pollfd fd{in_, POLLIN, 0};
  return poll(&fd, 1, 0) > 0;
}

void Terminal::stop() {
  const Mode mode = mode_;
  set_mode(Mode::Original);
  raise(SIGTSTP);
  set_mode(mode);
}

std::optional<Graphics> graphics_of_terminal() {
  return taken ? std::optional(taken->graphics()) : std::nullopt;
}

OriginalMode::OriginalMode() {
  if (!taken) return;
  mode_ = taken->mode();
  taken->set_mode(Terminal::Mode::Original);
}
OriginalMode::~OriginalMode() {
  if (taken) taken->set_mode(mode_);
}

}  // namespace quern::editor
