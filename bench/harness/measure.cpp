#include "bench/harness/measure.h"

#include <algorithm>
#include <cmath>

namespace quern::bench {

namespace {

constexpr double kSample = 1e-3;     // seconds of repeated calls, at least
constexpr double kSlowCall = 50e-3;  // calls that take longer are repeated less
constexpr double kWarmed = 20e-3;    // calls that take longer are not slowed by cold caches
constexpr double kPatience = 4;      // times the budget, for rounds that nobody disturbs
constexpr size_t kRounds = 15, kFewRounds = 3;
constexpr size_t kCleanRounds = 5;  // with fewer, disturbed ones count too

struct Plan {
  int64_t count = 1;
  double call = 0;  // seconds
};

Result<Plan> plan(Contender& contender) {
  Plan plan;
  auto first = contender.run(1, false);
  if (!first) return first.error();
  plan.call = first->seconds;
  // A few calls are about as long as the clock's steps and the first one's cold caches.
  while (plan.call < kSample) {
    int64_t count = std::max<int64_t>(1, static_cast<int64_t>(kSample / 4 / std::max(plan.call, 1e-8)));
    auto took = contender.run(count, true);
    if (!took) return took.error();
    double call = took->seconds / static_cast<double>(count);
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

struct Round {
  std::vector<double> times;  // by contender
  bool disturbed = false;
};

Result<Round> one_round(const std::vector<Contender*>& contenders, const std::vector<Plan>& plans) {
  Round round;
  for (size_t i = 0; i < contenders.size(); ++i) {
    auto took = contenders[i]->run(plans[i].count, plans[i].call < kWarmed);
    if (!took) return took.error();
    round.times.push_back(took->seconds / static_cast<double>(plans[i].count));
    round.disturbed |= took->disturbed;
  }
  return round;
}

std::vector<std::vector<double>> by_contender(const std::vector<Round>& rounds) {
  std::vector<std::vector<double>> times(rounds.front().times.size());
  for (const Round& round : rounds)
    for (size_t i = 0; i < round.times.size(); ++i) times[i].push_back(round.times[i]);
  return times;
}

}  // namespace

Result<Rounds> measure(const std::vector<Contender*>& contenders, const Budget& budget) {
  std::vector<Plan> plans;
  for (Contender* contender : contenders) {
    auto one = plan(*contender);
    if (!one) return one.error();
    plans.push_back(*one);
  }
  size_t least = least_rounds(plans);
  std::vector<Round> clean, all;
  double start = now();
  while (all.size() < least || now() - start < budget.seconds ||
         (clean.size() < least && now() - start < kPatience * budget.seconds)) {
    auto round = one_round(contenders, plans);
    if (!round) return round.error();
    all.push_back(*round);
    if (!round->disturbed) clean.push_back(*round);
  }
  bool enough = clean.size() >= std::min(least, kCleanRounds);
  return Rounds{by_contender(enough ? clean : all), all.size(), all.size() - clean.size()};
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
  const auto& times = rounds.times;
  for (size_t peer = 1; peer < times.size(); ++peer)
    if (best.peer == 0 || quantile(times[peer], 0.5) < quantile(times[best.peer], 0.5)) best.peer = peer;
  if (best.peer == 0) return best;
  std::vector<double> ratios;
  for (size_t round = 0; round < times[0].size(); ++round)
    ratios.push_back(times[best.peer][round] / times[0][round]);
  best.ratio = quantile(ratios, 0.5);
  best.lowest = quantile(ratios, 0.1);
  best.highest = quantile(ratios, 0.9);
  return best;
}

}  // namespace quern::bench
