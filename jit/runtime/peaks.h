#pragma once
// What the machine can do at most, measured: what kernels are compared with.

namespace quern {

/// GFLOP/s of one core in float32 multiply-adds held in registers, by the widest vectors there are, right
/// now. 0 where there is no code to measure it.
double peak_gflops();
/// GB/s read and written by copies of 64 MiB on as many threads, right now.
double copy_bandwidth(int threads);

}  // namespace quern
