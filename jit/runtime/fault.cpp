#include "jit/runtime/fault.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>

#include "ir/io/mapped_file.h"

namespace quern {

namespace {

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

constinit thread_local FaultLanding* innermost = nullptr;
std::array<struct sigaction, kFaults.size()> before;

void on_fault(int signal, siginfo_t* info, void*) {
  if (signal == SIGBUS && info->si_code > 0 && supply_lost_pages(info->si_addr)) return;
  // A signal sent by another process is not a fault.
  if (FaultLanding* landing = innermost; landing && info->si_code > 0) {
    landing->fault = {signal, info->si_addr};
    siglongjmp(landing->point, 1);
  }
  // The instruction is retried and reaches the previous handler; a sent signal is resent.
  for (size_t i = 0; i < kFaults.size(); ++i)
    if (kFaults[i] == signal) sigaction(signal, &before[i], nullptr);
  if (info->si_code <= 0) raise(signal);
}

bool take_signals() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_fault;
  // Not blocked in its handler, which is left by a jump.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kFaults.size(); ++i) sigaction(kFaults[i], &action, &before[i]);
  return true;
}

/// An alternate stack for handlers, since the thread's own may be exhausted.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t known = {};
    if (sigaltstack(nullptr, &known) == 0 && (known.ss_flags & SS_DISABLE) == 0) return;
    // The state that the Linux kernel saves there grows with the machine's registers.
    const size_t bytes = (32 << 10) + static_cast<size_t>(std::max(0L, sysconf(_SC_MINSIGSTKSZ)));
    memory_ = std::make_unique<std::byte[]>(bytes);
    stack_t own = {};
    own.ss_sp = memory_.get();
    own.ss_size = bytes;
    sigaltstack(&own, nullptr);
  }
  ~HandlerStack() {
    if (!memory_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

std::string to_string(const Fault& fault) {
  const char* name = sigabbrev_np(fault.signal);
  return fmt::format("SIG{} at {}", name ? name : "?", fmt::ptr(fault.address));
}

FaultLanding::FaultLanding() : around_(innermost) {
  static const bool has_signals = take_signals();
  static thread_local const HandlerStack stack;
  if (has_signals) innermost = this;
}

FaultLanding::~FaultLanding() { innermost = around_; }

}  // namespace quern
