#pragma once
// A profile as people and programs read it.

#include <span>
#include <string>

#include "jit/vm/profile.h"

namespace quern {

/// What the machine can do at most, with the threads that kernels run on; 0 where it is not known.
struct Peaks {
  double gflops = 0;
  double bandwidth = 0;  ///< GB/s of copies
  int threads = 1;
};
/// Of this machine, right now: takes about 50 ms.
Peaks measured_peaks();

/// A table with a line for each kernel, the longest running first; "-" is what is not known.
std::string profile_text(std::span<const KernelProfile> kernels, const Peaks& peaks);
/// {"peaks": {…}, "kernels": [{"name": …, "calls": …, …}, …]}, on one line; times in seconds.
std::string profile_json(std::span<const KernelProfile> kernels, const Peaks& peaks);

}  // namespace quern
