#include "bench/ops/measure.h"

#include <algorithm>
#include <cmath>

#include "bench/ops/machine.h"

namespace quern::bench {

namespace {

constexpr double kSample = 1e-3;     // seconds of repeated calls, at least
constexpr double kSlowCall = 50e-3;  // calls that take longer are repeated less
constexpr double kWarmed = 20e-3;    // calls that take longer are not slowed by cold caches
constexpr size_t kRounds = 15, kFewRounds = 3;

struct Plan {
  int64_t count = 1;
  double call = 0;  // seconds
};

Result<Plan> plan(Contender& contender) {
  Plan plan;
  auto first = contender.run(1, false);
  if (!first) return first.error();
  plan.call = *first;
  // A few calls are about as long as the clock's steps and the first one's cold caches.
  while (plan.call < kSample) {
    int64_t count = std::max<int64_t>(1, static_cast<int64_t>(kSample / 4 / std::max(plan.call, 1e-8)));
    auto took = contender.run(count, true);
    if (!took) return took.error();
    double call = *took / static_cast<double>(count);
    bool settled = call > 0.8 * plan.call;
    plan.call = call;
    if (settled) break;
  }
  plan.count = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(kSample / std::max(plan.call, 1e-9))));
  return plan;
}

size_t least_rounds(const std::vector<Plan>& plans) {
  double others = plans.size() > 1 ? plans[1].call : 0;
  for (size_t i = 2; i < plans.size(); ++i) others = std::min(others, plans[i].call);
  return plans[0].call > kSlowCall && plans[0].call > 2 * others ? kFewRounds : kRounds;
}

}  // namespace

Result<Rounds> measure(const std::vector<Contender*>& contenders, const Budget& budget) {
  std::vector<Plan> plans;
  for (Contender* contender : contenders) {
    auto one = plan(*contender);
    if (!one) return one.error();
    plans.push_back(*one);
  }
  Rounds rounds(contenders.size());
  double start = now();
  for (size_t round = 0; round < least_rounds(plans) || now() - start < budget.seconds; ++round)
    for (size_t i = 0; i < contenders.size(); ++i) {
      auto took = contenders[i]->run(plans[i].count, plans[i].call < kWarmed);
      if (!took) return took.error();
      rounds[i].push_back(*took / static_cast<double>(plans[i].count));
    }
  return rounds;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  double at = share * static_cast<double>(values.size() - 1);
  auto low = static_cast<size_t>(at);
  size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

Comparison compare(const Rounds& rounds) {
  Comparison best;
  for (size_t peer = 1; peer < rounds.size(); ++peer)
    if (best.peer == 0 || quantile(rounds[peer], 0.5) < quantile(rounds[best.peer], 0.5)) best.peer = peer;
  if (best.peer == 0) return best;
  std::vector<double> ratios;
  for (size_t round = 0; round < rounds[0].size(); ++round)
    ratios.push_back(rounds[best.peer][round] / rounds[0][round]);
  best.ratio = quantile(ratios, 0.5);
  best.lowest = quantile(ratios, 0.1);
  best.highest = quantile(ratios, 0.9);
  return best;
}

}  // namespace quern::bench
