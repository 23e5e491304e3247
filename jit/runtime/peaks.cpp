#include "jit/runtime/peaks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "ir/value/tensor.h"

namespace quern {

namespace {

constexpr size_t kSamples = 5;
// Two units with a latency of four to five cycles need ten chains to stay busy.
constexpr int kChains = 12;

#if defined(__x86_64__)
// `steps` dependent multiply-adds in each of the chains; the empty assembly keeps them separate and in
// registers.
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
#endif

/// Runs a number of steps of `lanes` multiply-adds in each chain; null if there is no such code.
struct FmaLoop {
  void (*run)(int64_t steps) = nullptr;
  int lanes = 0;
};

FmaLoop fma_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {multiply_add_512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_add_256, 8};
#endif
  return {};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median_of(std::array<double, kSamples> values) {
  std::sort(values.begin(), values.end());
  return values[kSamples / 2];
}

}  // namespace

double peak_gflops() {
  constexpr int64_t kSteps = 100'000;
  const FmaLoop loop = fma_loop();
  if (!loop.run) return 0;
  loop.run(kSteps / 4);
  std::array<double, kSamples> rates;
  for (double& rate : rates) {
    const double start = now();
    loop.run(kSteps);
    rate = 2.0 * kChains * loop.lanes * static_cast<double>(kSteps) / (now() - start) * 1e-9;
  }
  return median_of(rates);
}

double copy_bandwidth(int threads) {
  constexpr size_t kBytes = size_t{64} << 20;
  // Tensor memory uses huge pages. It is written before it is read, since untouched pages share one zero
  // page.
  const Shape shape{static_cast<int64_t>(kBytes)};
  const TensorPtr from = HostTensor::make(DType::uint8(), shape);
  const TensorPtr to = HostTensor::make(DType::uint8(), shape);
  std::memset(from->data(), 1, kBytes);
  std::memset(to->data(), 2, kBytes);
  const auto share = kBytes / static_cast<size_t>(threads);
  std::array<double, kSamples> rates;
  for (double& rate : rates) {
    const double start = now();
    std::vector<std::jthread> helpers;
    for (size_t at = share; at + share <= kBytes; at += share)
      helpers.emplace_back([=] { std::memcpy(to->data() + at, from->data() + at, share); });
    std::memcpy(to->data(), from->data(), share);
    helpers.clear();
    rate = 2.0 * static_cast<double>(share) * threads / (now() - start) * 1e-9;
  }
  return median_of(rates);
}

}  // namespace quern
