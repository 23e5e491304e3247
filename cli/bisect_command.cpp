// `quern bisect`: a file's results after each step of compilation, against those of the interpreter.

#include <fmt/format.h>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "passes/pipeline.h"

namespace quern {

namespace {

/// A way to run a file.
struct Step {
  std::string name;
  std::vector<std::string> options;    ///< of `quern run`
  std::vector<std::string> variables;  ///< of the environment
};

/// In the order of compilation: each row does one step more than the row before it.
std::vector<Step> steps() {
  std::vector<Step> all;
  for (const Pass& pass : pipeline())
    all.push_back(
        {fmt::format("the pass {}", pass.name), {"--interpret", "--after", std::string(pass.name)}, {}});
  const std::string plain = "QUERN_LOOPS=plain", fast = "QUERN_TIERS=first", best = "QUERN_TIERS=best";
  all.push_back({"plain loops", {"--threads", "1"}, {plain, fast}});
  all.push_back({"plain loops, tier two", {"--threads", "1"}, {plain, best}});
  all.push_back({"schedules", {"--threads", "1"}, {fast}});
  all.push_back({"schedules, tier two", {"--threads", "1"}, {best}});
  all.push_back({"schedules, two threads", {"--threads", "2"}, {best}});
  return all;
}

/// The difference of two runs, or "".
std::string difference(const ChildOutcome& actual, const ChildOutcome& expected) {
  const bool same_end = actual.code == expected.code && actual.signal == expected.signal &&
                        actual.timed_out == expected.timed_out;
  if (!same_end) return ending_of(actual);
  return difference_of_outputs(actual.out, expected.out);
}

}  // namespace

int CommandLine::bisect() {
  const std::chrono::milliseconds limit(static_cast<int64_t>(limit_ * 1000));
  auto run = [&](const Step& step) {
    std::vector<std::string> command{own_program()};
    if (!stdlib_.empty()) command.insert(command.end(), {"--stdlib", stdlib_});
    command.insert(command.end(), {"run", "--format", "json"});
    command.insert(command.end(), step.options.begin(), step.options.end());
    command.push_back(file_);
    std::vector<std::string> variables = step.variables;
    variables.emplace_back("QUERN_CACHE=off");
    return run_child(command, limit, variables);
  };
  std::vector<std::string> check{own_program(), "check", file_};
  if (const ChildOutcome checked = run_child(check, limit); !checked.is_fine()) {
    fmt::print(stderr, "{}", checked.err);
    say(fmt::format("`quern check {}` finds something wrong: there is nothing to compare", file_));
    return kWrong;
  }
  const ChildOutcome expected = run({"the interpreter", {"--interpret"}, {}});
  constexpr int kWidth = 26;
  fmt::print("{:<{}}{}\n", "the interpreter", kWidth,
             expected.is_fine() ? "gives the results" : ending_of(expected));
  for (const Step& step : steps()) {
    const std::string found = difference(run(step), expected);
    fmt::print("{:<{}}{}\n", step.name, kWidth, found.empty() ? "the same" : found);
    std::fflush(stdout);
    if (found.empty()) continue;
    fmt::print("\nResults differ from here on: {}\n", step.name);
    return kWrong;
  }
  fmt::print("\nNo step changes the results.\n");
  return kFine;
}

}  // namespace quern
