#pragma once
// What the operators' bench prints.

#include <string>
#include <vector>

#include "bench/harness/figures.h"

namespace quern::bench {

/// A row measured.
struct Row {
  std::string name, group;
  int threads = 1;
  Figures figures;
  double percent_of_peak = 0;
  double rate = 0;  ///< GFLOP/s, or GB/s where memory is the limit
  bool is_compute = true;
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
  std::vector<GroupRatio> ratios_;
};

}  // namespace quern::bench
