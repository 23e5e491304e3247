// Random well-typed programs: inference finds the type that the generator meant, with and without
// annotations; the interpreter and compiled code agree; what is printed is the same program; programs with
// one mistake are rejected where the mistake is. Random functions: their derivatives are what differences
// say.
//
//   QUERN_RANDOM_PROGRAMS=10000    how many in all, as in CI
//   QUERN_RANDOM_GRADIENTS=1000    how many functions
//   QUERN_RANDOM_SEED=17           only this one
//   QUERN_RANDOM_EVERY_WAY=1       each program in all ways of compiled code, not in one by turns
//   QUERN_RANDOM_WHOLE=1           a program that fails as it was made, not smaller
//   QUERN_RANDOM_FAILURES=50       how many failures end a test, in place of 5

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "tests/random/check.h"
#include "tests/random/generator.h"
#include "tests/random/gradients.h"
#include "tests/random/setting.h"
#include "tests/random/watch.h"

namespace quern::random_programs {
namespace {

constexpr uint64_t kShards = 4;
constexpr uint64_t kPrintEvery = 4;

/// The seeds of a shard, as many in all as the variable holds.
std::vector<uint64_t> seeds_of(uint64_t shard, const char* variable, uint64_t otherwise) {
  std::vector<uint64_t> seeds;
  if (std::getenv("QUERN_RANDOM_SEED")) {
    if (shard == 0) seeds.push_back(setting("QUERN_RANDOM_SEED", 0));
    return seeds;
  }
  for (uint64_t seed = shard; seed < setting(variable, otherwise); seed += kShards) seeds.push_back(seed);
  return seeds;
}

uint64_t most_failures() { return setting("QUERN_RANDOM_FAILURES", 5); }

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

std::string kind_of(const std::string& problem) { return problem.substr(0, problem.find(':')); }

/// Reports a program that fails, as small as it gets.
void report(uint64_t seed, const ProgramTerm& program, const std::string& problem,
            const std::function<std::string(const ProgramTerm&)>& problem_of) {
  if (setting("QUERN_RANDOM_WHOLE", 0) != 0) {
    ADD_FAILURE() << "seed " << seed << ", as it was made:\n" << problem;
    return;
  }
  const ProgramTerm least = shrink(
      program, [&](const ProgramTerm& smaller) { return kind_of(problem_of(smaller)) == kind_of(problem); });
  const std::string still = problem_of(least);
  ADD_FAILURE() << "seed " << seed << " (QUERN_RANDOM_SEED=" << seed << "), as small as it gets:\n"
                << (still.empty() ? "only at times, " + problem : still);
}

TEST_P(RandomPrograms, AreTypedAsMeantAndEvaluatedAlike) {
  Workshop workshop(setting("QUERN_RANDOM_EVERY_WAY", 0) != 0);
  uint64_t failures = 0;
  for (uint64_t seed : seeds_of(GetParam(), "QUERN_RANDOM_PROGRAMS", 500)) {
    const Watch watch(seed);
    ProgramTerm program = generate(Random(seed));
    const auto problem_of = [&](const ProgramTerm& one) {
      return workshop.problem(one, seed * 0x9E3779B97F4A7C15ULL, seed % kPrintEvery == 0, seed / kShards);
    };
    std::string problem = problem_of(program);
    if (problem.empty()) continue;
    report(seed, program, problem, problem_of);
    if (++failures == most_failures()) return;
  }
}

TEST_P(RandomPrograms, HaveTheDerivativesThatDifferencesSay) {
  uint64_t failures = 0;
  for (uint64_t seed : seeds_of(GetParam(), "QUERN_RANDOM_GRADIENTS", 200)) {
    const Watch watch(seed);
    ProgramTerm program = generate_differentiable(seed);
    std::string problem = gradient_problem(program);
    if (problem.empty()) continue;
    report(seed, program, problem, gradient_problem);
    if (++failures == most_failures()) return;
  }
}

TEST_P(RandomPrograms, WithOneMistakeAreRejectedThere) {
  Workshop workshop;
  uint64_t failures = 0;
  for (uint64_t seed : seeds_of(GetParam(), "QUERN_RANDOM_PROGRAMS", 500)) {
    const Watch watch(seed);
    Mutant mutant;
    ProgramTerm program = generate(Random(seed));
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
    if (++failures == most_failures()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPrograms, testing::Range(uint64_t{0}, kShards));

}  // namespace
}  // namespace quern::random_programs
