// Commands that measure how long expressions take.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"
#include "session/run/compiler.h"

namespace quern {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// Runs an expression once, and shows how long checking, compiling and running took.
bool time_expression(Workspace& workspace, const std::string& expression) {
  const auto start = Clock::now();
  return workspace.with_expression(expression, "`:time`", [&](DeclarationId statement) {
    Execution& execution = workspace.execution();
    std::optional<CountedWork> running(std::in_place);
    const auto checked = Clock::now();
    const nanoseconds waited_before = execution.compiler().waited();
    const Execution::Repeated run = execution.prepare(statement, Execution::Outside::Real);
    const auto prepared = Clock::now();
    const StatementResult result = run();
    const auto end = Clock::now();
    running.reset();
    if (result.failure) {
      workspace.print_problems({*result.failure});
      return false;
    }
    // Kernels and functions are compiled at their first call.
    const nanoseconds waited = execution.compiler().waited() - waited_before;
    fmt::print("{}", columns_text({{"checking", time_text(checked - start)},
                                   {"compiling", time_text(prepared - checked + waited)},
                                   {"running", time_text(end - prepared - waited)}},
                                  "lr"));
    return true;
  });
}

struct Contender {
  std::string text;
  Execution::Repeated run;
  size_t calls = 1;             ///< of a sample
  std::vector<double> samples;  ///< seconds for a call, by rounds
};

/// The least duration of a sample: well above the cost of reading the clock and of the call.
constexpr nanoseconds kSample = std::chrono::microseconds(200);
constexpr nanoseconds kAllSamples = std::chrono::milliseconds(1500);
constexpr size_t kLeastRounds = 5, kMostRounds = 1000;

class Comparison {
 public:
  Comparison(Workspace& workspace, std::vector<Contender> contenders)
      : workspace_(workspace), contenders_(std::move(contenders)) {}

  bool run() {
    const std::optional<size_t> rounds = warm_up();
    if (!rounds) return false;
    CountedWork work("rounds", *rounds);
    for (size_t round = 0; round < *rounds; ++round, work.advance()) {
      // The order rotates, so that none always runs on the caches and the temperature that another one leaves.
      for (size_t k = 0; k < contenders_.size(); ++k)
        if (!sample(contenders_[(k + round) % contenders_.size()])) return false;
    }
    return true;
  }

  std::string table() const {
    std::vector<std::vector<std::string>> rows{{"", "median", "ratio", "quartiles"}};
    for (const Contender& c : contenders_) {
      const nanoseconds median(static_cast<int64_t>(quantile(c.samples, 0.5) * 1e9));
      std::vector<std::string> row{shortened(c.text), time_text(median), "1.00"};
      if (&c != &contenders_.front()) {
        const std::vector<double> ratios = ratios_of(c);
        row[2] = fmt::format("{:.2f}", quantile(ratios, 0.5));
        row.push_back(fmt::format("{:.2f} to {:.2f}", quantile(ratios, 0.25), quantile(ratios, 0.75)));
      }
      rows.push_back(std::move(row));
    }
    return columns_text(rows, "lrrr") +
           fmt::format("{} rounds in turns; {}", contenders_.front().samples.size(), calls_text());
  }

 private:
  /// Runs each until its optimised code is ready, and returns how many rounds fit into the time.
  std::optional<size_t> warm_up() {
    const CountedWork running;
    for (Contender& c : contenders_)
      if (!once(c)) return std::nullopt;
    workspace_.execution().compiler().wait_until_idle();
    nanoseconds round{0};
    for (Contender& c : contenders_) {
      nanoseconds best = nanoseconds::max();
      for (int i = 0; i < 3; ++i) {
        const auto start = Clock::now();
        if (!once(c)) return std::nullopt;
        best = std::min<nanoseconds>(best, Clock::now() - start);
      }
      c.calls = static_cast<size_t>(kSample / std::max(best, nanoseconds(1)) + 1);
      round += best * static_cast<int64_t>(c.calls);
    }
    const auto fit = static_cast<size_t>(kAllSamples / std::max(round, nanoseconds(1)));
    return std::clamp(fit, kLeastRounds, kMostRounds);
  }

  bool sample(Contender& c) {
    const auto start = Clock::now();
    for (size_t i = 0; i < c.calls; ++i)
      if (!once(c)) return false;
    c.samples.push_back(std::chrono::duration<double>(Clock::now() - start).count() /
                        static_cast<double>(c.calls));
    return true;
  }

  bool once(const Contender& c) {
    const StatementResult result = c.run();
    if (result.failure) workspace_.print_problems({*result.failure});
    return !result.failure && (!is_interrupted() || workspace_.complain(kInterrupted));
  }

  /// Ratios within a round: disturbances affect neighbouring samples equally.
  std::vector<double> ratios_of(const Contender& c) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < c.samples.size(); ++i)
      ratios.push_back(c.samples[i] / contenders_.front().samples[i]);
    return ratios;
  }

  static double quantile(std::vector<double> values, double part) {
    const auto at = static_cast<ptrdiff_t>(std::lround(part * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<size_t>(at)];
  }

  std::string calls_text() const {
    std::string text;
    for (const Contender& c : contenders_) text += fmt::format("{}{}", text.empty() ? "" : ", ", c.calls);
    return fmt::format("{} call{} a round\n", text,
                       contenders_.size() == 1 && contenders_[0].calls == 1 ? "" : "s");
  }

  Workspace& workspace_;
  std::vector<Contender> contenders_;
};

/// All sources have to be in the session at once: each is added inside the scope of the previous one.
bool compare(Workspace& workspace, const std::vector<std::string>& texts, std::vector<Contender> contenders) {
  if (contenders.size() == texts.size()) {
    Comparison comparison(workspace, std::move(contenders));
    if (!comparison.run()) return false;
    fmt::print("{}", comparison.table());
    return true;
  }
  const std::string& text = texts[contenders.size()];
  return workspace.with_expression(text, "`:bench`", [&](DeclarationId statement) {
    contenders.push_back({text, workspace.execution().prepare(statement, Execution::Outside::Quiet)});
    return compare(workspace, texts, std::move(contenders));
  });
}

/// `A, B, C`: runs the expressions in turns, many times, and shows the median of each and its ratio to the first.
bool compare_times(Workspace& workspace, const std::string& expressions) {
  const std::vector<std::string> texts = split_at_commas(expressions);
  if (std::ranges::find(texts, "") != texts.end())
    return workspace.complain("an expression is missing beside a comma; write `:bench A, B`");
  return compare(workspace, texts, {});
}

}  // namespace

std::span<const ReplCommand> commands_to_measure() {
  static constexpr ReplCommand kRows[] = {
      {":time", "EXPR", Takes::Expression, About::Measure,
       "run it once: how long checking, compiling and running took", as_command<time_expression>},
      {":bench", "A, B", Takes::Expression, About::Measure,
       "run expressions in turns, many times: medians and their ratios", as_command<compare_times>},
  };
  return kRows;
}

}  // namespace quern
