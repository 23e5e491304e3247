#include "session/run/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "jit/runtime/peaks.h"
#include "jit/runtime/threads.h"

namespace quern {

namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// In units of 10^9 per second; nothing if the amount is zero or unknown.
std::optional<double> rate(double amount, std::chrono::nanoseconds time) {
  if (!std::isfinite(amount) || amount <= 0 || time.count() <= 0) return std::nullopt;
  return amount / seconds(time) * 1e-9;
}

std::string number(std::optional<double> value) { return value ? fmt::format("{:.1f}", *value) : "-"; }

std::string percent(std::optional<double> value, double peak) {
  return value && peak > 0 ? fmt::format("{:.0f} %", 100 * *value / peak) : "-";
}

std::string line_of(const KernelProfile& kernel, const Peaks& peaks, size_t width) {
  const auto gflops = rate(kernel.operations, kernel.running), bandwidth = rate(kernel.bytes, kernel.running);
  const double mean = kernel.calls ? seconds(kernel.running) / static_cast<double>(kernel.calls) : 0;
  return fmt::format("{:<{}} {:>8} {:>10.3f} {:>10.1f} {:>8} {:>6} {:>7} {:>6} {:>10.2f}\n", kernel.name,
                     width, kernel.calls, seconds(kernel.running) * 1e3, mean * 1e6, number(gflops),
                     percent(gflops, peaks.gflops), number(bandwidth), percent(bandwidth, peaks.bandwidth),
                     seconds(kernel.compiling) * 1e3);
}

}  // namespace

Peaks measured_peaks() {
  const int threads = thread_count();
  return {peak_gflops() * threads, copy_bandwidth(threads), threads};
}

std::string profile_text(std::span<const KernelProfile> kernels, const Peaks& peaks) {
  if (kernels.empty()) return "no kernel was called\n";
  size_t width = std::string_view("kernel").size();
  for (const KernelProfile& kernel : kernels) width = std::max(width, kernel.name.size());
  std::string text =
      fmt::format("{:<{}} {:>8} {:>10} {:>10} {:>8} {:>6} {:>7} {:>6} {:>10}\n", "kernel", width, "calls",
                  "total ms", "mean us", "GFLOP/s", "peak", "GB/s", "copy", "compile ms");
  KernelProfile all{"all"};
  for (const KernelProfile& kernel : kernels) {
    text += line_of(kernel, peaks, width);
    all.calls += kernel.calls;
    all.running += kernel.running;
    all.compiling += kernel.compiling;
  }
  text += fmt::format("{:<{}} {:>8} {:>10.3f} {:>52.2f}\n", all.name, width, all.calls,
                      seconds(all.running) * 1e3, seconds(all.compiling) * 1e3);
  const auto known = [](double peak) { return peak > 0 ? std::optional(peak) : std::nullopt; };
  return text + fmt::format("peak {} GFLOP/s in float32, copies {} GB/s, {} thread{}\n",
                            number(known(peaks.gflops)), number(known(peaks.bandwidth)), peaks.threads,
                            peaks.threads == 1 ? "" : "s");
}

std::string profile_json(std::span<const KernelProfile> kernels, const Peaks& peaks) {
  const auto or_null = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nullptr; };
  nlohmann::json list = nlohmann::json::array();
  for (const KernelProfile& kernel : kernels)
    list.push_back({{"name", kernel.name},
                    {"calls", kernel.calls},
                    {"seconds", seconds(kernel.running)},
                    {"compile_seconds", seconds(kernel.compiling)},
                    {"operations", or_null(kernel.operations)},
                    {"bytes", or_null(kernel.bytes)}});
  const nlohmann::json whole{
      {"peaks",
       {{"gflops", peaks.gflops}, {"gigabytes_per_second", peaks.bandwidth}, {"threads", peaks.threads}}},
      {"kernels", std::move(list)}};
  return whole.dump();
}

}  // namespace quern
