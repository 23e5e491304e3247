// What each measure brings: models as they are and without it, in turns in the same run.
//
//     quern_ablations_bench [--threads N] [--json] [--seconds S] [--list] [--picture FILE.svg] [NAME…]
//
// A row is a model of bench/models with random weights. Its figures are its time without a measure by its time with
// all of them. Exit code 1: a row failed, or results differ.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "bench/ablations/picture.h"
#include "bench/harness/difference.h"
#include "bench/harness/json_line.h"
#include "bench/harness/machine.h"
#include "bench/harness/options.h"
#include "bench/harness/quern_program.h"
#include "bench/harness/relay_texts.h"
#include "session/run/measures.h"

namespace quern::bench {
namespace {

constexpr double kTolerance = 1e-3;  // largest difference, relative to the largest element
constexpr uint64_t kSeed = 1;
const std::string kFolder = "models";

std::vector<CommandLine::RowName> all_rows() {
  std::vector<CommandLine::RowName> rows = relay_rows(kFolder);
  // Random numbers do not make the nodes of a tree.
  std::erase_if(rows, [](const CommandLine::RowName& row) { return row.name == "tree_lstm"; });
  return rows;
}

// What is left out together.
struct Ablation {
  std::string name;
  std::vector<std::string> measures;
};

std::vector<Ablation> ablations() {
  return {{"fusion", {"fuse", "fuse_rows"}},  {"orders of axes", {"order_axes"}},
          {"loops", {"hoist_from_loops"}},    {"prepacked weights", {"prepacked"}},
          {"results in place", {"in_place"}}, {"memory plan", {"storage"}}};
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), ablations_(ablations()) {}

  int run(const std::vector<std::string>& rows, const std::string& picture) {
    if (!options_.json) {
      fmt::print("{:<16}{:>11}", "without", "us");
      for (const Ablation& ablation : ablations_) fmt::print("{:>27}", ablation.name);
      fmt::print("\n");
    }
    bool good = true;
    for (const std::string& row : rows)
      if (auto done = measured(row); !done) {
        fmt::print(stderr, "bench ablations: {}: {}\n", row, done.error().message);
        good = false;
      }
    if (picture.empty()) return good ? 0 : 1;
    std::vector<std::string> names;
    for (const Ablation& ablation : ablations_) names.push_back(ablation.name);
    std::ofstream file(picture);
    file << bars(names, factors_);
    return good && file.flush() ? 0 : 1;
  }

 private:
  using Program = std::unique_ptr<QuernProgram>;

  Result<Done> measured(const std::string& row) {
    auto text = relay_text(kFolder, row);
    if (!text) return text.error();
    std::vector<Program> programs;
    auto first = ready(row, *text, {}, nullptr);
    if (!first) return first.error();
    programs.push_back(std::move(*first));
    for (const Ablation& ablation : ablations_) {
      auto program = ready(row, *text, ablation.measures, programs.front().get());
      if (!program) return Failure{fmt::format("without {}: {}", ablation.name, program.error().message)};
      programs.push_back(std::move(*program));
    }
    std::vector<Contender*> contenders;
    contenders.reserve(programs.size());
    for (const Program& program : programs) contenders.push_back(program.get());
    auto rounds = measure(contenders, options_.budget);
    if (!rounds) return rounds.error();
    report(row, *rounds);
    return Done{};
  }

  /// Without these measures; its result is that of `reference`, whose arguments it takes.
  static Result<Program> ready(const std::string& row, const std::string& text,
                               const std::vector<std::string>& measures, QuernProgram* reference) {
    CompilerOptions options{Tiers::Best};
    for (const std::string& measure : measures) leave_out(measure, options);
    auto program = std::make_unique<QuernProgram>();
    if (auto done = program->compile(row, text, options); !done) return done.error();
    if (!reference) {
      if (auto done = program->draw(kSeed); !done) return done.error();
      if (auto result = program->tensor(); !result) return result.error();
      return program;
    }
    program->take(reference->arguments());
    auto expected = reference->tensor(), found = program->tensor();
    if (!expected) return expected.error();
    if (!found) return found.error();
    const double apart = difference(**found, **expected);
    if (!(apart <= kTolerance))
      return Failure{fmt::format("the result differs by {:.2g} of the largest element", apart)};
    return program;
  }

  void report(const std::string& row, const Rounds& rounds) {
    const double us = quantile(rounds.times[0], 0.5) * 1e6;
    Bars bars{row, {}};
    if (!options_.json) fmt::print("{:<16}{:>11.1f}", row, us);
    for (size_t i = 0; i < ablations_.size(); ++i) {
      const Figures figures = figures_by_first(rounds, i + 1);
      bars.lengths.push_back(figures.ratio);
      if (options_.json) {
        JsonLine line;
        line.add("name", row);
        line.add("without", ablations_[i].name);
        line.add("us", figures.seconds * 1e6, 3);
        line.add_ratio(figures);
        line.add_rounds(figures);
        fmt::print("{}\n", line.text());
      } else {
        fmt::print("{:>27}", fmt::format("{:.2f} {}", figures.ratio, spread_text(figures)));
      }
    }
    if (!options_.json) fmt::print("\n");
    std::fflush(stdout);
    factors_.push_back(std::move(bars));
  }

  const Options& options_;
  const std::vector<Ablation> ablations_;
  std::vector<Bars> factors_;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  std::string picture;
  const CommandLine line("bench ablations", {{"--picture", "FILE.svg", [&](const std::string& value) {
                                                picture = value;
                                                return value.ends_with(".svg");
                                              }}});
  const Options options = line.parse(argc, argv);
  const std::vector<CommandLine::RowName> rows = all_rows();
  const std::vector<bool> chosen = line.chosen(rows, options.names);
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i)
    if (chosen[i]) names.push_back(rows[i].name);
  if (options.list) {
    for (const std::string& name : names) fmt::print("{}\n", name);
    return 0;
  }
  return run_with(options.threads, [&] { return Bench(options).run(names, picture); });
}
