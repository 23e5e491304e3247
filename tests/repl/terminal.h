#pragma once
// The real binary on a terminal whose cursor cannot be moved, for tests: type a line, read what is shown up to the next
// prompt.

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

class Terminal {
 public:
  static constexpr std::string_view kPrompt = ">>> ", kContinuation = "... ";
  static constexpr char kCtrlC = '\x03', kCtrlD = '\x04';

  enum class Colour { No, Yes };

  /// Starts the command in `folder` on a terminal that does not echo and leaves line ends alone.
  Terminal(const std::string& program, const std::string& folder, Colour colour = Colour::No,
           const std::vector<std::string>& arguments = {}) {
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    int slave;
    if (openpty(&master_, &slave, nullptr, nullptr, nullptr) != 0) return;
    termios settings;
    tcgetattr(slave, &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    tcsetattr(slave, TCSANOW, &settings);
    child_ = fork();
    if (child_ == 0) {
      close(master_);
      login_tty(slave);
      setenv("TERM", colour == Colour::No ? "dumb" : "xterm", 1);
      setenv("XDG_CONFIG_HOME", "/nonexistent", 0);
      colour == Colour::No ? setenv("NO_COLOR", "1", 1) : unsetenv("NO_COLOR");
      if (chdir(folder.c_str()) == 0) execv(argv[0], argv.data());
      _exit(127);
    }
    close(slave);
  }
  ~Terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view text) {
    while (!text.empty()) {
      ssize_t n = write(master_, text.data(), text.size());
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }

  /// What is shown up to a prompt, which is the last of it; up to the end where the program ends; whatever
  /// there is when the time is up.
  std::string read_to_prompt(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    auto deadline = std::chrono::steady_clock::now() + limit;
    std::string shown;
    while (!at_prompt(shown)) {
      auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd fd{master_, POLLIN, 0};
      if (left.count() <= 0 || poll(&fd, 1, static_cast<int>(left.count())) <= 0) return shown;
      std::array<char, 4096> buffer;
      ssize_t n = read(master_, buffer.data(), buffer.size());
      if (n <= 0) return shown;  // an error is how a terminal says that its last user has gone
      shown.append(buffer.data(), static_cast<size_t>(n));
    }
    return shown;
  }

  /// Types a line; what is shown up to and with the next prompt.
  std::string enter(const std::string& line) {
    type(line + "\n");
    return read_to_prompt();
  }

  /// What the program's threads have had of processors, all together.
  std::chrono::nanoseconds processor_time() const {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  /// Waits for the program's end: its exit code.
  int wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static bool at_prompt(std::string_view shown) {
    for (std::string_view prompt : {kPrompt, kContinuation}) {
      if (!shown.ends_with(prompt)) continue;
      std::string_view before = shown.substr(0, shown.size() - prompt.size());
      if (before.empty() || before.ends_with('\n')) return true;
    }
    return false;
  }

  int master_ = -1;
  pid_t child_ = -1;
};

}  // namespace quern
