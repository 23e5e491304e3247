#include "bench/ops/report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

double rounded(double value, int digits) {
  double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

// Those that count of all; "!" where disturbed ones are among them.
std::string rounds_of(const Row& row) {
  bool all_clean = row.rounds + row.disturbed <= row.all_rounds;
  return fmt::format("{}/{}{}", row.rounds, row.all_rounds, all_clean ? "" : "!");
}

std::string json_line(const Row& row) {
  nlohmann::ordered_json line;
  line["name"] = row.name;
  line["threads"] = row.threads;
  line["quern_us"] = rounded(row.quern_us, 3);
  bool has_peer = !row.peer.empty();
  line["peer"] = has_peer ? nlohmann::ordered_json(row.peer) : nullptr;
  line["peer_us"] = has_peer ? nlohmann::ordered_json(rounded(row.peer_us, 3)) : nullptr;
  line["ratio"] = has_peer ? nlohmann::ordered_json(rounded(row.ratio, 4)) : nullptr;
  line["spread"] =
      has_peer ? nlohmann::ordered_json{rounded(row.lowest, 4), rounded(row.highest, 4)} : nullptr;
  line["percent_of_peak"] = rounded(row.percent_of_peak, 2);
  line["rounds"] = row.rounds;
  line["disturbed_rounds"] = row.disturbed;
  return line.dump();
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
  rows_.push_back(row);
  if (json_) {
    fmt::print("{}\n", json_line(row));
  } else {
    fmt::print("{:<22}{:>12.2f}{:>9.2f} {}{:>7.1f}%", row.name, row.quern_us, row.rate,
               row.is_compute ? "GFLOP/s" : "GB/s   ", row.percent_of_peak);
    if (!row.peer.empty())
      fmt::print("{:>12.2f}{:>8.3f}  {:<15}{:>9}  {}", row.peer_us, row.ratio,
                 fmt::format("{:.3f}..{:.3f}", row.lowest, row.highest), rounds_of(row), row.peer);
    fmt::print("\n");
  }
  std::fflush(stdout);
}

void Report::end() const {
  std::vector<std::string> means;
  for (size_t first = 0; first < rows_.size();) {
    size_t last = first;
    double logarithms = 0;
    int count = 0;
    for (; last < rows_.size() && rows_[last].group == rows_[first].group; ++last)
      if (rows_[last].ratio > 0) {
        logarithms += std::log(rows_[last].ratio);
        ++count;
      }
    if (count > 0)
      means.push_back(fmt::format("{} {:.3f}", rows_[first].group, std::exp(logarithms / count)));
    first = last;
  }
  fmt::print(json_ ? stderr : stdout, "geometric means of the ratios: {}\n", fmt::join(means, ", "));
}

}  // namespace quern::bench
