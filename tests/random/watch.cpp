#include "tests/random/watch.h"

#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace quern::random_programs {

namespace {

constexpr time_t kMostSeconds = 120;
volatile uint64_t current = 0;
volatile bool is_running = false;

/// Nothing here but what a handler of signals may call.
void tell(std::string_view what) {
  const auto write_out = [](std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  };
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), uint64_t{current});
  write_out(what);
  write_out({digits.data(), static_cast<size_t>(end - digits.data())});
  write_out("\n");
}

void on_signal(int signal) {
  tell(signal == SIGPROF ? "\nnot done after two minutes of work: QUERN_RANDOM_SEED="
                         : "\nended by QUERN_RANDOM_SEED=");
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// A check that does not hold leaves by `exit`.
void on_exit() {
  if (is_running) tell("\nended by QUERN_RANDOM_SEED=");
}

/// By the time that the process runs, not the time that passes: others may have the processor. 0 is without a
/// limit.
void let_work(time_t seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace

Watch::Watch(uint64_t seed) {
  static const int registered = std::atexit(on_exit);
  (void)registered;
  current = seed;
  is_running = true;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPROF}) std::signal(signal, on_signal);
  let_work(kMostSeconds);
}

Watch::~Watch() {
  let_work(0);
  is_running = false;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPROF}) std::signal(signal, SIG_DFL);
}

}  // namespace quern::random_programs
