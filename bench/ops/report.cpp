#include "bench/ops/report.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/harness/json_line.h"

namespace quern::bench {

namespace {

std::string json_line(const Row& row) {
  JsonLine line;
  line.add("name", row.name);
  line.add("threads", static_cast<size_t>(row.threads));
  line.add_times(row.figures, "us", 1e6);
  line.add("percent_of_peak", row.percent_of_peak, 2);
  line.add_rounds(row.figures);
  return line.text();
}

}  // namespace

void Report::begin(double peak_gflops, double bandwidth, int threads) const {
  std::FILE* to = json_ ? stderr : stdout;
  fmt::print(to, "peak {:.1f} GFLOP/s a core, copy {:.1f} GB/s, {} thread{}\n", peak_gflops, bandwidth,
             threads, threads == 1 ? "" : "s");
  if (!json_)
    fmt::print("{:<22}{:>12}{:>16}{:>8}{:>12}{:>8}  {:<15}{:>9}  {}\n", "name", "Quern us", "rate", "of peak",
               "peer us", "ratio", "spread", "rounds", "peer");
}

void Report::add(const Row& row) {
  ratios_.push_back({row.group, row.figures.ratio});
  if (json_) {
    fmt::print("{}\n", json_line(row));
  } else {
    const Figures& figures = row.figures;
    fmt::print("{:<22}{:>12.2f}{:>9.2f} {}{:>7.1f}%", row.name, figures.seconds * 1e6, row.rate,
               row.is_compute ? "GFLOP/s" : "GB/s   ", row.percent_of_peak);
    if (!figures.peer.empty())
      fmt::print("{:>12.2f}{:>8.3f}  {:<15}{:>9}  {}", figures.peer_seconds * 1e6, figures.ratio,
                 spread_text(figures), rounds_text(figures), figures.peer);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void Report::end() const { fmt::print(json_ ? stderr : stdout, "{}", geometric_means(ratios_)); }

}  // namespace quern::bench
