#pragma once
// The machine that the operators' bench runs on: its cores.

namespace quern::bench {

/// Keeps this process, and those that it starts, on one core.
void stay_on_one_core();

/// Whether OpenBLAS's kernels for AVX-512 run here.
bool has_avx512();

}  // namespace quern::bench
