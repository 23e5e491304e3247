#pragma once
// What the kernels of a run took, by kernel.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace quern {

/// What one call of a kernel took and did. Numbers that are not known are NaN.
struct KernelCall {
  std::chrono::nanoseconds time{0};
  double operations = 0;  ///< on floats, as the primitive says (vm/operation_count.h)
  double bytes = 0;       ///< of operands and result, each once
};

/// All calls of a kernel together.
struct KernelProfile {
  std::string name;
  uint64_t calls = 0;
  std::chrono::nanoseconds running{0};
  std::chrono::nanoseconds compiling{0};  ///< that a caller waited for code: made, or found on disk
  double operations = 0, bytes = 0;
};

/// Threads may note calls side by side.
class Profile {
 public:
  void note_call(const std::string& kernel, const KernelCall& call);
  void note_compilation(const std::string& kernel, std::chrono::nanoseconds time);
  void clear();
  /// The longest running first.
  std::vector<KernelProfile> kernels() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, KernelProfile> kernels_;
};

}  // namespace quern
