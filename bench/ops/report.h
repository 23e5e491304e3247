#pragma once
// What the operators' bench prints.

#include <cstddef>
#include <string>
#include <vector>

namespace quern::bench {

/// A row measured.
struct Row {
  std::string name, group;
  int threads = 1;
  double quern_us = 0;
  std::string peer;  ///< the better one; "" where there is none
  double peer_us = 0, ratio = 0, lowest = 0, highest = 0;
  double percent_of_peak = 0;
  double rate = 0;  ///< GFLOP/s, or GB/s where memory is the limit
  bool is_compute = true;
  size_t rounds = 0;  ///< that count
  size_t all_rounds = 0;
  size_t disturbed = 0;  ///< of all rounds
};

/// A table, or one JSON object a line.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void begin(double peak_gflops, double bandwidth, int threads) const;
  void add(const Row& row);
  /// The geometric mean of the ratios of each group.
  void end() const;

 private:
  bool json_;
  std::vector<Row> rows_;
};

}  // namespace quern::bench
