#pragma once
// Faults of the processor in compiled code: an access of memory that is not there, a division that has no result, an instruction
// that the machine lacks, the end of the stack. They are bugs of Quern; the session outlives them.

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

/// Where a fault of the thread comes back to. Handlers for the signals are there from the first one on; what is no fault of
/// compiled code goes to the handlers that were there before.
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

/// Calls `code`, and gives the fault that stopped it. Nothing of `code` is destroyed then: it calls compiled code and no more.
/// Some 20 ns.
template <typename Code>
std::optional<Fault> fault_of(const Code& code) {
  FaultLanding landing;
  if (sigsetjmp(landing.point, 0) != 0) return landing.fault;
  code();
  return std::nullopt;
}

}  // namespace quern
