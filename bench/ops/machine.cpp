#include "bench/ops/machine.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/ops/stopwatch.h"

namespace quern::bench {

namespace {

constexpr size_t kSamples = 5;
// Two units with a latency of four to five cycles need ten chains to be always busy.
constexpr int kChains = 12;

// `steps` dependent multiply-adds in each of the chains; the empty assembly keeps them in registers and
// apart.
__attribute__((target("avx512f"))) void multiply_add_512(int64_t steps) {
  __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(1e-3f);
  __m512 chains[kChains];
  for (__m512& chain : chains) chain = _mm512_set1_ps(1);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (__m512& chain : chains) {
      chain = _mm512_fmadd_ps(chain, factor, term);
      __asm__ volatile("" : "+v"(chain));
    }
  }
}

__attribute__((target("avx2,fma"))) void multiply_add_256(int64_t steps) {
  __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(1e-3f);
  __m256 chains[kChains];
  for (__m256& chain : chains) chain = _mm256_set1_ps(1);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (__m256& chain : chains) {
      chain = _mm256_fmadd_ps(chain, factor, term);
      __asm__ volatile("" : "+x"(chain));
    }
  }
}

double median_of(std::array<double, kSamples> values) {
  std::sort(values.begin(), values.end());
  return values[kSamples / 2];
}

}  // namespace

void stay_on_one_core() {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  // Interrupts tend to be on the first core.
  for (int core = CPU_SETSIZE - 1; core >= 0; --core)
    if (CPU_ISSET(core, &allowed)) {
      CPU_SET(core, &one);
      break;
    }
  sched_setaffinity(0, sizeof one, &one);
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

double peak_gflops() {
  constexpr int64_t kSteps = 100'000;
  bool wide = has_avx512();
  auto work = wide ? multiply_add_512 : multiply_add_256;
  work(kSteps / 4);
  std::array<double, kSamples> rates;
  for (double& rate : rates) {
    double start = now();
    work(kSteps);
    rate = 2.0 * kChains * (wide ? 16 : 8) * static_cast<double>(kSteps) / (now() - start) * 1e-9;
  }
  return median_of(rates);
}

double copy_bandwidth(int threads) {
  constexpr size_t kBytes = size_t{64} << 20;
  static const std::vector<char> from(kBytes, 1);
  static std::vector<char> to(kBytes, 2);
  auto share = kBytes / static_cast<size_t>(threads);
  std::array<double, kSamples> rates;
  for (double& rate : rates) {
    double start = now();
    std::vector<std::jthread> helpers;
    for (size_t at = share; at + share <= kBytes; at += share)
      helpers.emplace_back([=] { std::memcpy(to.data() + at, from.data() + at, share); });
    std::memcpy(to.data(), from.data(), share);
    helpers.clear();
    rate = 2.0 * static_cast<double>(share) * threads / (now() - start) * 1e-9;
  }
  return median_of(rates);
}

}  // namespace quern::bench
