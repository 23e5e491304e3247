#include "bench/peer/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "bench/harness/stopwatch.h"
#include "ir/io/data_files.h"

namespace quern::bench {

namespace {

constexpr int kTrials = 7;
constexpr double kTrialSeconds = 2e-3;

Sample sample(const Variant& variant, int64_t count, int threads) {
  Stopwatch watch(threads);
  for (int64_t i = 0; i < count; ++i) variant.run();
  return watch.sample();
}

double seconds(const Variant& variant, int64_t count) { return sample(variant, count, 1).seconds; }

// The fastest by the median of trials that take turns.
size_t best_of(const std::vector<Variant>& variants) {
  if (variants.size() == 1) return 0;
  std::vector<int64_t> counts;
  counts.reserve(variants.size());
  for (const Variant& v : variants)
    counts.push_back(1 + static_cast<int64_t>(kTrialSeconds / std::max(seconds(v, 1), 1e-9)));
  std::vector<std::vector<double>> times(variants.size());
  for (int trial = 0; trial < kTrials; ++trial)
    for (size_t i = 0; i < variants.size(); ++i)
      times[i].push_back(seconds(variants[i], counts[i]) / static_cast<double>(counts[i]));
  size_t best = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    if (times[i][kTrials / 2] < times[best][kTrials / 2]) best = i;
  }
  return best;
}

Fields fields_of(std::istream& request) {
  Fields fields;
  for (std::string field; std::getline(request, field, '\t');)
    if (const size_t equals = field.find('='); equals != std::string::npos)
      fields.emplace_back(field.substr(0, equals), field.substr(equals + 1));
  return fields;
}

// The fastest variant, with its result in the file that the fields name.
Result<Variant> ready(const Fields& fields, const Prepare& prepare) {
  auto variants = prepare(fields);
  if (!variants) return variants.error();
  Variant chosen = std::move((*variants)[best_of(*variants)]);
  chosen.run();
  for (const auto& [key, value] : fields)
    if (key == "result")
      if (auto written = write_tensors(value, {{"", chosen.result()}}); !written) return written.error();
  return chosen;
}

void answer(const std::string& line) { std::cout << line << std::endl; }

}  // namespace

void serve(int threads, const Prepare& prepare) {
  Variant chosen;
  answer("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream request(line);
    if (line.starts_with("prepare\t")) {
      chosen = {};
      auto made = ready(fields_of(request), prepare);
      if (made) chosen = std::move(*made);
      answer(made ? "prepared " + chosen.name : "none: " + made.error().message);
    } else {
      std::string word;
      int64_t count = 0, warm = 0;
      request >> word >> count >> warm;
      if (warm) chosen.run();
      const Sample took = sample(chosen, count, threads);
      answer(fmt::format("took {:.9f} {:d}", took.seconds, took.disturbed));
    }
  }
}

}  // namespace quern::bench
