#pragma once
// What a bench reports of a measured row.

#include <string>
#include <vector>

#include "bench/harness/measure.h"

namespace quern::bench {

struct Figures {
  double seconds = 0;  ///< of a call of Quern's, the median
  std::string peer;    ///< the better one; "" where there is none
  double peer_seconds = 0;
  std::vector<double> all_peers;              ///< seconds of each, in their order
  double ratio = 0, lowest = 0, highest = 0;  ///< `Comparison`
  size_t rounds = 0;                          ///< that count
  size_t all_rounds = 0;
  size_t disturbed = 0;  ///< of all rounds
};

/// Of contenders whose first is Quern.
Figures figures_of(const std::vector<Contender*>& contenders, const Rounds& rounds);

/// Of the contender at `index`, whose ratio is its time by the first one's; it has no peer.
Figures figures_by_first(const Rounds& rounds, size_t index);

/// "15/17": the rounds that count, of all; with "!" where disturbed ones are among them.
std::string rounds_text(const Figures& figures);
/// "0.981..1.020"
std::string spread_text(const Figures& figures);

struct GroupRatio {
  std::string group;
  double ratio = 0;  ///< 0 where there is none
};
/// The geometric means of the ratios of each group, whose rows are neighbours, as a line of text; "" for none.
std::string geometric_means(const std::vector<GroupRatio>& ratios);

}  // namespace quern::bench
