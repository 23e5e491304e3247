#pragma once
// Measured peak rates of the machine, for comparison with kernels.

namespace quern {

/// GFLOP/s of one core in float32 multiply-adds in registers, with the widest vectors, measured now. 0 if
/// there is no code to measure it.
double peak_gflops();
/// GB/s read and written by copies of 64 MiB on `threads` threads, measured now.
double copy_bandwidth(int threads);

}  // namespace quern
