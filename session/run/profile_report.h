#pragma once
// A profile in human- and machine-readable form.

#include <span>
#include <string>

#include "jit/vm/profile.h"

namespace quern {

/// The machine's peak rates with the threads that kernels use; 0 if unknown.
struct Peaks {
  double gflops = 0;
  double bandwidth = 0;  ///< GB/s of copies
  int threads = 1;
};
/// Measures this machine; takes about 50 ms.
Peaks measured_peaks();

/// A table with a line per kernel, longest running first; "-" marks unknown values.
std::string profile_text(std::span<const KernelProfile> kernels, const Peaks& peaks);
/// {"peaks": {…}, "kernels": [{"name": …, "calls": …, …}, …]}, on one line; times in seconds.
std::string profile_json(std::span<const KernelProfile> kernels, const Peaks& peaks);

}  // namespace quern
