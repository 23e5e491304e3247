// Random well-typed programs: inference finds the type that the generator meant, with and without
// annotations; both evaluators agree; what is printed is the same program; programs with one mistake are
// rejected where the mistake is.
//
//   QUERN_RANDOM_PROGRAMS=10000   how many in all, as in CI
//   QUERN_RANDOM_SEED=17           only this one

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/random/check.h"
#include "tests/random/generator.h"

namespace quern::random_programs {
namespace {

constexpr uint64_t kShards = 4;
constexpr uint64_t kPrintEvery = 4;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The seeds of a shard.
std::vector<uint64_t> seeds_of(uint64_t shard, uint64_t programs) {
  std::vector<uint64_t> seeds;
  if (std::getenv("QUERN_RANDOM_SEED")) {
    if (shard == 0) seeds.push_back(setting("QUERN_RANDOM_SEED", 0));
    return seeds;
  }
  for (uint64_t seed = shard; seed < setting("QUERN_RANDOM_PROGRAMS", programs); seed += kShards)
    seeds.push_back(seed);
  return seeds;
}

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

std::string kind_of(const std::string& problem) { return problem.substr(0, problem.find(':')); }

TEST_P(RandomPrograms, AreTypedAsMeantAndEvaluatedAlike) {
  Workshop workshop;
  int failures = 0;
  for (uint64_t seed : seeds_of(GetParam(), 500)) {
    ProgramTerm program = generate(seed);
    uint64_t omit = seed * 0x9E3779B97F4A7C15ULL;
    bool print = seed % kPrintEvery == 0;
    std::string problem = workshop.problem(program, omit, print);
    if (problem.empty()) continue;
    ProgramTerm least = shrink(program, [&](const ProgramTerm& smaller) {
      return kind_of(workshop.problem(smaller, omit, print)) == kind_of(problem);
    });
    ADD_FAILURE() << "seed " << seed << " (QUERN_RANDOM_SEED=" << seed << "), as small as it gets:\n"
                  << workshop.problem(least, omit, print);
    if (++failures == 5) return;
  }
}

TEST_P(RandomPrograms, WithOneMistakeAreRejectedThere) {
  Workshop workshop;
  int failures = 0;
  for (uint64_t seed : seeds_of(GetParam(), 500)) {
    Mutant mutant;
    ProgramTerm program = generate(seed);
    if (!mutate(program, seed, mutant)) continue;
    std::vector<TextRange> ranges;
    std::string diagnostics = workshop.diagnostics(mutant.text, &ranges);
    bool there = false;
    for (const TextRange& r : ranges) there |= r.begin < mutant.place.end && r.end > mutant.place.begin;
    if (there) continue;
    ADD_FAILURE() << "seed " << seed << ": " << mutant.what << " changed in\n"
                  << mutant.text.substr(mutant.place.begin, mutant.place.end - mutant.place.begin) << "\n"
                  << (ranges.empty() ? "was not rejected" : "was rejected elsewhere:\n" + diagnostics)
                  << "\nin\n"
                  << mutant.text;
    if (++failures == 5) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPrograms, testing::Range(uint64_t{0}, kShards));

}  // namespace
}  // namespace quern::random_programs
