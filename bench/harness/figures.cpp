#include "bench/harness/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace quern::bench {

namespace {

Figures times_of(const Rounds& rounds, size_t index) {
  Figures figures;
  figures.seconds = quantile(rounds.times[index], 0.5);
  figures.rounds = rounds.times[index].size();
  figures.all_rounds = rounds.all;
  figures.disturbed = rounds.disturbed;
  return figures;
}

}  // namespace

Figures figures_by_first(const Rounds& rounds, size_t index) {
  std::vector<double> ratios(rounds.times[0].size());
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = rounds.times[index][i] / rounds.times[0][i];
  Figures figures = times_of(rounds, index);
  figures.ratio = quantile(ratios, 0.5);
  figures.lowest = quantile(ratios, 0.1);
  figures.highest = quantile(ratios, 0.9);
  return figures;
}

Figures figures_of(const std::vector<Contender*>& contenders, const Rounds& rounds) {
  Figures figures = times_of(rounds, 0);
  if (contenders.size() == 1) return figures;
  for (size_t i = 1; i < contenders.size(); ++i) figures.all_peers.push_back(quantile(rounds.times[i], 0.5));
  Comparison best = compare(rounds);
  figures.peer = contenders[best.peer]->label();
  figures.peer_seconds = quantile(rounds.times[best.peer], 0.5);
  figures.ratio = best.ratio;
  figures.lowest = best.lowest;
  figures.highest = best.highest;
  return figures;
}

std::string rounds_text(const Figures& figures) {
  bool all_clean = figures.rounds + figures.disturbed <= figures.all_rounds;
  return fmt::format("{}/{}{}", figures.rounds, figures.all_rounds, all_clean ? "" : "!");
}

std::string spread_text(const Figures& figures) {
  return fmt::format("{:.3f}..{:.3f}", figures.lowest, figures.highest);
}

std::string geometric_means(const std::vector<GroupRatio>& ratios) {
  std::vector<std::string> means;
  for (size_t first = 0; first < ratios.size();) {
    size_t last = first;
    double logarithms = 0;
    int count = 0;
    for (; last < ratios.size() && ratios[last].group == ratios[first].group; ++last)
      if (ratios[last].ratio > 0) {
        logarithms += std::log(ratios[last].ratio);
        ++count;
      }
    if (count > 0)
      means.push_back(fmt::format("{} {:.3f}", ratios[first].group, std::exp(logarithms / count)));
    first = last;
  }
  if (means.empty()) return "";
  return fmt::format("geometric means of the ratios: {}\n", fmt::join(means, ", "));
}

}  // namespace quern::bench
