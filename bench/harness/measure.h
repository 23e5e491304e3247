#pragma once
// Interleaved measurement: rounds in which each contender takes its turn.

#include <vector>

#include "bench/harness/contender.h"

namespace quern::bench {

struct Budget {
  double seconds = 1.5;  ///< of a row, about
};

struct Rounds {
  std::vector<std::vector<double>> times;  ///< seconds of a call: `times[contender][round]`
  size_t all = 0;                          ///< rounds that took place
  size_t disturbed = 0;  ///< of these, when someone's core was taken away; left out if it can be
};

/// Of a sample at least a millisecond of repeated calls; at least 15 undisturbed rounds, or as few as 3 where
/// a call of the first contender takes more than 50 ms and twice the time of the others. Where that takes
/// four times the budget, disturbed rounds count too.
Result<Rounds> measure(const std::vector<Contender*>& contenders, const Budget& budget);

/// The value that a share of all is below; 0.5 is the median.
double quantile(std::vector<double> values, double share);

/// The better of the contenders after the first, and how much more time it takes than the first.
struct Comparison {
  size_t peer = 0;                 ///< its index
  double ratio = 0;                ///< the median over the rounds of its time by that of the first
  double lowest = 0, highest = 0;  ///< the 10th and 90th percentile of the same
};
Comparison compare(const Rounds& rounds);

}  // namespace quern::bench
