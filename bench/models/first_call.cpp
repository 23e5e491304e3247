#include "bench/models/first_call.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "bench/harness/measure.h"

namespace quern::bench {

namespace {

constexpr int kCalls = 3;

struct Call {
  double seconds = 0, bytes = 0;
};

Result<Call> one_call(const std::string& command) {
  std::FILE* answer = popen(command.c_str(), "r");
  if (!answer) return Failure{"no process can be started"};
  double seconds = 0, kibibytes = 0;
  const int read = std::fscanf(answer, "%lf %lf", &seconds, &kibibytes);
  if (pclose(answer) != 0 || read != 2) return Failure{fmt::format("`{}` failed", command)};
  return Call{seconds, kibibytes * 1024};
}

}  // namespace

Result<FirstCalls> measure_first_calls(const std::string& program, const std::string& arguments,
                                       const std::string& cache, int threads) {
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  const auto command = [&](const std::string& with) {
    return fmt::format("{} QUERN_THREADS={} '{}/quern_first_call' '{}/quern' run '{}' {}", with, threads,
                       folder, folder, program, arguments);
  };
  FirstCalls result;
  std::vector<double> cold, warm;
  for (int i = 0; i < kCalls; ++i) {
    auto call = one_call(command("QUERN_CACHE=off"));
    if (!call) return call.error();
    cold.push_back(call->seconds);
    result.peak_bytes = std::max(result.peak_bytes, call->bytes);
  }
  // With both tiers a process may end before the better code is made, and the cache lacks it.
  const std::string cached = fmt::format("QUERN_CACHE='{}'", cache);
  if (auto filled = one_call(command(cached + " QUERN_TIERS=best")); !filled) return filled.error();
  for (int i = 0; i < kCalls; ++i) {
    auto call = one_call(command(cached));
    if (!call) return call.error();
    warm.push_back(call->seconds);
  }
  result.cold_seconds = quantile(cold, 0.5);
  result.warm_seconds = quantile(warm, 0.5);
  return result;
}

}  // namespace quern::bench
