#pragma once
// The machine that the operators' bench runs on: its cores, and what they can do at most.

namespace quern::bench {

/// Keeps this process, and those that it starts, on one core.
void stay_on_one_core();

/// Whether OpenBLAS's kernels for AVX-512 run here.
bool has_avx512();

/// GFLOP/s of one core in float32 multiply-adds held in registers, by the widest vectors there are, right
/// now.
double peak_gflops();
/// GB/s read and written by copies of 64 MiB on as many threads, right now.
double copy_bandwidth(int threads);

}  // namespace quern::bench
