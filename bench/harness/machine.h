#pragma once
// The machine that the benches run on: its cores.

#include <functional>

namespace quern::bench {

/// Runs a bench: with one thread on one core, on the thread that owns a session's queries.
int run_with(int threads, const std::function<int()>& bench);

/// Whether OpenBLAS's kernels for AVX-512 run here.
bool has_avx512();

}  // namespace quern::bench
