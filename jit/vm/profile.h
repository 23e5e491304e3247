#pragma once
// The cost of the kernels of a run, by kernel.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace quern {

/// The cost and work of one kernel call. Unknown numbers are NaN.
struct KernelCall {
  std::chrono::nanoseconds time{0};
  double operations = 0;  ///< floating-point, as the primitive specifies (vm/operation_count.h)
  double bytes = 0;       ///< of operands and result, each once
};

/// Totals over all calls of a kernel.
struct KernelProfile {
  std::string name;
  uint64_t calls = 0;
  std::chrono::nanoseconds running{0};
  std::chrono::nanoseconds compiling{0};  ///< time a caller waited for code, compiled or loaded from disk
  double operations = 0, bytes = 0;
};

/// Thread-safe.
class Profile {
 public:
  void note_call(const std::string& kernel, const KernelCall& call);
  void note_compilation(const std::string& kernel, std::chrono::nanoseconds time);
  void clear();
  /// Longest running first.
  std::vector<KernelProfile> kernels() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, KernelProfile> kernels_;
};

}  // namespace quern
