#pragma once
// The real binary on an emulated terminal: type keys, wait for what is to be seen.

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/repl/editor/emulator.h"

namespace quern::editor {

class ScreenSession {
 public:
  using Clock = std::chrono::steady_clock;

  /// What started the program: a shell has it in a process group of its own, and could stop it.
  enum class StartedBy { Nobody, Shell };

  ScreenSession(const std::string& folder, const std::string& history = "off", int columns = 80,
                int rows = 24, StartedBy started_by = StartedBy::Nobody)
      : emulator_(columns, rows) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) return;
    tcgetattr(slave_, &before_);
    child_ = fork();
    if (child_ != 0) return;
    close(master_);
    login_tty(slave_);
    if (started_by == StartedBy::Shell) become_job();
    setenv("TERM", "xterm-256color", 1);
    setenv("QUERN_HISTORY", history.c_str(), 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 0);
    unsetenv("NO_COLOR");
    if (chdir(folder.c_str()) == 0) execl(QUERN_BINARY, QUERN_BINARY, static_cast<char*>(nullptr));
    _exit(127);
  }
  ~ScreenSession() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
    close(slave_);
  }
  ScreenSession(const ScreenSession&) = delete;
  ScreenSession& operator=(const ScreenSession&) = delete;

  Emulator& screen() { return emulator_; }
  /// Everything that the program wrote.
  const std::string& received() const { return received_; }
  /// What the terminal answers, once, when a question is among what the program writes.
  void answer(std::string question, std::string answer) {
    question_ = std::move(question);
    answer_ = std::move(answer);
  }
  pid_t child() const { return child_; }

  /// Writes bytes, and shows what comes back meanwhile.
  void type(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd fd{master_, POLLIN | POLLOUT, 0};
      if (poll(&fd, 1, 60000) <= 0) return;
      if (fd.revents & POLLIN) take();
      if (!(fd.revents & POLLOUT)) continue;
      const ssize_t n = write(master_, bytes.data(), std::min<size_t>(bytes.size(), 1024));
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  /// Shows what comes until the screen is as wanted; false where it is not in time.
  bool wait_until(const std::function<bool(const std::string&)>& is_wanted,
                  std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto deadline = Clock::now() + limit;
    while (!is_wanted(emulator_.text())) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd fd{master_, POLLIN, 0};
      if (left <= 0 || poll(&fd, 1, static_cast<int>(left)) <= 0) return false;
      if (!take()) return is_wanted(emulator_.text());
    }
    return true;
  }
  bool wait_for(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    return wait_until([&](const std::string& shown) { return shown.find(text) != std::string::npos; }, limit);
  }
  /// A prompt without an input at the end of the screen.
  bool wait_for_prompt(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    return wait_until([](const std::string& shown) { return shown == ">>>" || shown.ends_with("\n>>>"); },
                      limit);
  }

  void resize(int columns, int rows, bool reflows) {
    emulator_.resize(columns, rows, reflows);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    ioctl(master_, TIOCSWINSZ, &size);
  }

  /// Shows what comes until the program is stopped; false where it is not in time.
  bool wait_until_stopped(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    const auto deadline = Clock::now() + limit;
    while (!is_stopped()) {
      if (Clock::now() > deadline) return false;
      pollfd fd{master_, POLLIN, 0};
      if (poll(&fd, 1, 5) > 0) take();
    }
    return true;
  }
  void go_on() const { ::kill(-tcgetpgrp(master_), SIGCONT); }

  /// Whether the terminal's modes are those from before the program.
  bool is_as_before() const {
    termios now{};
    tcgetattr(slave_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag;
  }
  /// Shows what comes until the program ends: its status as of waitpid.
  int wait_for_end() {
    int status = 0;
    while (waitpid(child_, &status, WNOHANG) == 0) {
      pollfd fd{master_, POLLIN, 0};
      if (poll(&fd, 1, 20) > 0) take();
    }
    child_ = -1;
    return status;
  }

 private:
  // The child goes on as the shell, which waits, and its own child as the program in the foreground.
  static void become_job() {
    const pid_t job = fork();
    if (job != 0) {
      int status = 0;
      do waitpid(job, &status, WUNTRACED);
      while (!WIFEXITED(status) && !WIFSIGNALED(status));
      _exit(0);
    }
    setpgid(0, 0);
    // Who is not in the foreground yet would be stopped here.
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
  }
  bool is_stopped() const {
    std::ifstream stat("/proc/" + std::to_string(tcgetpgrp(master_)) + "/stat");
    const std::string text(std::istreambuf_iterator<char>(stat), {});
    const size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.substr(name_end).starts_with(") T");
  }
  bool take() {
    std::array<char, 1 << 14> buffer;
    const ssize_t n = read(master_, buffer.data(), buffer.size());
    if (n <= 0) return false;
    emulator_.feed({buffer.data(), static_cast<size_t>(n)});
    received_.append(buffer.data(), static_cast<size_t>(n));
    if (!question_.empty() && received_.find(question_) != std::string::npos) {
      question_.clear();
      type(std::exchange(answer_, {}));
    }
    return true;
  }

  Emulator emulator_;
  std::string received_, question_, answer_;
  int master_ = -1, slave_ = -1;
  termios before_{};
  pid_t child_ = -1;
};

}  // namespace quern::editor
