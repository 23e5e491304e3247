// `quern reduce`: the failures that it looks for, and what it writes.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "frontend/format/format.h"
#include "session/run/reduction.h"

namespace quern {

namespace {

/// Runs texts and classifies their failures. Each is written to a file beside the original, since it may name data files
/// there.
class Failing {
 public:
  Failing(const std::string& file, std::vector<std::string> command, std::chrono::milliseconds limit)
      : path_(std::filesystem::path(file)
                  .replace_extension(fmt::format("reducing-{}.relay", getpid()))
                  .string()),
        command_(std::move(command)),
        limit_(limit) {}
  ~Failing() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;

  /// One line that describes how a text fails. Failures with the same line are considered equal. "" if it does not fail.
  std::string symptom_of(const std::string& text) const { return symptom_of(text, false); }
  bool has_symptom(const std::string& text, const std::string& symptom) const {
    return symptom_of(text, symptom.starts_with(kCompiled)) == symptom;
  }

  /// Whether checking a text crashes the process.
  bool crashes_checks(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    const ChildOutcome outcome = run({own_program(), "check"});
    return outcome.signal != 0 || outcome.timed_out;
  }

 private:
  std::string symptom_of(const std::string& text, bool compiled_alone) const {
    std::ofstream(path_, std::ios::binary) << text;
    if (!command_.empty()) {
      const ChildOutcome outcome = run(command_);
      return outcome.is_fine() ? "" : fmt::format("`{}`: {}", fmt::join(command_, " "), bare_ending(outcome));
    }
    const ChildOutcome compiled = run({own_program(), "run"});
    if (is_crash(compiled)) return fmt::format("{}{}", kCompiled, description(compiled));
    if (compiled_alone) return "";
    const ChildOutcome interpreted = run({own_program(), "run", "--interpret"});
    if (is_crash(interpreted)) return fmt::format("`quern run --interpret`: {}", description(interpreted));
    const bool same =
        compiled.code == interpreted.code && difference_of_outputs(compiled.out, interpreted.out).empty();
    return same ? "" : "`quern run` and `quern run --interpret` give different results";
  }
  static constexpr std::string_view kCompiled = "`quern run`: ";

  ChildOutcome run(std::vector<std::string> command) const {
    command.push_back(path_);
    return run_child(command, limit_, {"QUERN_CACHE=off"});
  }
  static bool is_crash(const ChildOutcome& o) { return o.signal != 0 || o.timed_out || o.code == kBug; }
  /// Without the text that the program reported, as that contains positions.
  static std::string bare_ending(ChildOutcome outcome) {
    outcome.err.clear();
    return ending_of(outcome);
  }
  /// Of a bug, the failed check and the stage without the declaration.
  static std::string description(const ChildOutcome& outcome) {
    std::string text = ending_of(outcome);
    return text.substr(0, text.find("` of `"));
  }

  const std::string path_;
  const std::vector<std::string> command_;
  const std::chrono::milliseconds limit_;
};

}  // namespace

int CommandLine::reduce() {
  auto text = read_file(file_);
  if (!text) {
    print_diagnostics({unreadable(file_, text.error())});
    return kWrong;
  }
  const Failing failing(file_, command_, std::chrono::milliseconds(static_cast<int64_t>(limit_ * 1000)));
  const std::string symptom = failing.symptom_of(*text);
  if (symptom.empty()) {
    say(fmt::format(
        "`{}` does not fail{}", file_,
        command_.empty() ? ": `quern run` ends, and its results are those of the interpreter" : ""));
    return kWrong;
  }
  auto fails = [&](const std::string& candidate) { return failing.has_symptom(candidate, symptom); };
  std::string result = reduced(*text, fails, {.checks = !failing.crashes_checks(*text)});
  if (auto formatted = format(result); formatted && fails(*formatted)) result = *formatted;
  result = fmt::format("// {}\n{}{}", symptom, result, result.ends_with('\n') ? "" : "\n");
  if (output_.empty()) {
    fmt::print("{}", result);
    return kFine;
  }
  std::ofstream out(output_, std::ios::binary);
  out << result;
  out.close();
  if (out) return kFine;
  say(fmt::format("`{}` cannot be written", output_));
  return kWrong;
}

}  // namespace quern
