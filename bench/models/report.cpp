#include "bench/models/report.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/harness/json_line.h"

namespace quern::bench {

namespace {

constexpr double kMega = 1e6;

void add_peer(JsonLine& line, const std::string& name, const std::optional<double>& seconds) {
  if (seconds)
    line.add(name, *seconds * 1e3, 3);
  else
    line.add_null(name);
}

std::string json_line(const Row& row) {
  JsonLine line;
  line.add("name", row.name);
  line.add("threads", static_cast<size_t>(row.threads));
  line.add_times(row.figures, "ms", 1e3);
  add_peer(line, "torch_ms", row.torch);
  add_peer(line, "onednn_ms", row.onednn);
  line.add("first_cold_ms", row.first.cold_seconds * 1e3, 1);
  line.add("first_warm_ms", row.first.warm_seconds * 1e3, 1);
  line.add("peak_mb", row.first.peak_bytes / kMega, 1);
  line.add_rounds(row.figures);
  return line.text();
}

}  // namespace

void Report::begin() const {
  if (!json_)
    fmt::print("{:<14}{:>10}{:>9}{:>9}{:>9}{:>10}{:>8}  {:<15}{:>8}  {}\n", "name", "Quern ms", "cold ms",
               "warm ms", "peak MB", "peer ms", "ratio", "spread", "rounds", "peer");
}

void Report::add(const Row& row) {
  const Figures& figures = row.figures;
  ratios_.push_back({row.group, figures.ratio});
  if (json_) {
    fmt::print("{}\n", json_line(row));
  } else {
    fmt::print("{:<14}{:>10.3f}{:>9.0f}{:>9.0f}{:>9.0f}", row.name, figures.seconds * 1e3,
               row.first.cold_seconds * 1e3, row.first.warm_seconds * 1e3, row.first.peak_bytes / kMega);
    if (!figures.peer.empty())
      fmt::print("{:>10.3f}{:>8.3f}  {:<15}{:>8}  {}", figures.peer_seconds * 1e3, figures.ratio,
                 spread_text(figures), rounds_text(figures), figures.peer);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void Report::end() const { fmt::print(json_ ? stderr : stdout, "{}", geometric_means(ratios_)); }

}  // namespace quern::bench
