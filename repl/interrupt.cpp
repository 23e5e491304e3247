#include "repl/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "ir/base/interrupt.h"

namespace quern {

namespace {

constexpr int kInterruptedExit = 130;  // 128 + SIGINT, as shells report it
constexpr std::string_view kWarning = "\nCtrl-C again ends the session\n";

/// Never closed: another thread may still be in the handler when it is replaced, and would write into a file that has
/// the number by then.
std::array<int, 2> wake{-1, -1};
std::atomic<bool> working = false;
std::atomic<int> interrupts_of_work = 0;
struct sigaction previous;

// Async-signal-safe.
void on_interrupt(int) {
  int error = errno;
  if (!working.load()) {
    [[maybe_unused]] ssize_t written = write(wake[1], "!", 1);
    errno = error;
    return;
  }
  // The first one may have come too early to be seen, before the code that polls for it ran.
  int count = ++interrupts_of_work;
  if (count > 2) _exit(kInterruptedExit);
  request_interrupt();
  if (count == 2) {
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, kWarning.data(), kWarning.size());
  }
  errno = error;
}

}  // namespace

Interrupts::Interrupts() {
  if (wake[0] < 0 && pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake = {-1, -1};
  clear();
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous);
}

Interrupts::~Interrupts() { sigaction(SIGINT, &previous, nullptr); }

int Interrupts::wake_fd() const { return wake[0]; }

void Interrupts::clear() {
  std::array<char, 16> ignored;
  while (wake[0] >= 0 && read(wake[0], ignored.data(), ignored.size()) > 0) {
  }
}

InterruptibleWork::InterruptibleWork() {
  interrupts_of_work = 0;
  clear_interrupt();
  working = true;
}
InterruptibleWork::~InterruptibleWork() {
  working = false;
  clear_interrupt();
}

}  // namespace quern
