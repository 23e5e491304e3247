#pragma once
// Processor faults in compiled code: an invalid memory access, an undefined division, an unsupported
// instruction, stack overflow. They are bugs in Quern; the session survives them.

#include <setjmp.h>

#include <optional>
#include <string>

namespace quern {

struct Fault {
  int signal;
  const void* address;  ///< of the access, or of the instruction
};

/// `SIGSEGV at 0x10`.
std::string to_string(const Fault& fault);

/// Where a fault of the thread returns to. The first landing installs signal handlers; signals that are not
/// faults of compiled code go to the previous handlers.
class FaultLanding {
 public:
  FaultLanding();
  ~FaultLanding();
  FaultLanding(const FaultLanding&) = delete;
  FaultLanding& operator=(const FaultLanding&) = delete;

  sigjmp_buf point;
  Fault fault{};

 private:
  FaultLanding* const around_;
};

#ifdef __SANITIZE_THREAD__
// The thread sanitizer calls our handler with all signals blocked: the next fault would end the process.
constexpr int kSavesBlocked = 1;
#else
constexpr int kSavesBlocked = 0;
#endif

/// Calls `code` and returns the fault that stopped it. No destructor in `code` runs then, so it must only
/// call compiled code. Costs about 20 ns.
template <typename Code>
std::optional<Fault> fault_of(const Code& code) {
  FaultLanding landing;
  if (sigsetjmp(landing.point, kSavesBlocked) != 0) return landing.fault;
  code();
  return std::nullopt;
}

}  // namespace quern
