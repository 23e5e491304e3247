// `quern test`: tests in programs, and transcripts.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/transcripts.h"
#include "repl/command_files.h"
#include "repl/picture/picture_files.h"
#include "session/run/execution.h"

namespace quern {

// Prints a line for each test, and the diagnostic of a failure. No test of a file with errors runs.
void CommandLine::test_program(const std::string& path, TestOutcome& outcome) {
  const OpenedFile* opened = open(path);
  if (!opened) {
    outcome.code = std::max(outcome.code, kWrong);
    return;
  }
  Session& session = *opened->session;
  auto problems = session.check_with_imports(opened->source);
  if (has_errors(problems)) {
    print_diagnostics(problems);
    outcome.code = std::max(outcome.code, exit_code(problems));
    return;
  }
  ExecutionOptions options;
  options.interpret = interpret_;
  options.compiler = compiler_;
  options.draw_curves = draw_curves;
  for (DeclarationId id : session.tests(opened->source)) {
    const std::string& name = session.info(id).name;
    if (name.find(filter_) == std::string::npos) continue;
    Execution execution(session, opened->module, options,
                        [](std::string_view line) { fmt::print("{}\n", line); });
    StatementResult result = execution.run(id);
    ++(result.failure ? outcome.failed : outcome.passed);
    fmt::print("{} {}: {}\n", result.failure ? "FAILED" : "ok    ", path, name);
    std::fflush(stdout);
    if (!result.failure) continue;
    print_diagnostics({*result.failure});
    outcome.code = std::max(outcome.code, exit_code({*result.failure}));
  }
}

// Prints a line for the file, or the difference for each step whose output does not match.
void CommandLine::test_transcript(const std::string& path, TestOutcome& outcome) const {
  auto text = read_file(path);
  if (!text) {
    print_diagnostics({unreadable(path, text.error())});
    outcome.code = std::max(outcome.code, kWrong);
    return;
  }
  ExecutionOptions options;
  options.interpret = interpret_;
  options.compiler = compiler_;
  const ide::Transcript transcript = ide::parse_transcript(path, *text);
  const auto outputs = TranscriptRunner(stdlib_, options).outputs(transcript);
  size_t differing = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ide::TranscriptStep& step = transcript.steps[i];
    const auto expected = transcript.expected(step);
    if (ide::output_matches(expected, outputs[i])) continue;
    ++differing;
    if (!update_)
      fmt::print("FAILED {}:{}: {}\n{}", path, step.line + 1, transcript.lines[step.line],
                 ide::output_difference(expected, outputs[i]));
  }
  const size_t alike = outputs.size() - differing;
  outcome.passed += alike;
  if (!update_) {
    outcome.failed += differing;
    if (differing > 0) outcome.code = std::max(outcome.code, kWrong);
    if (differing == 0 && alike > 0) fmt::print("ok     {}: {} outputs\n", path, alike);
    return;
  }
  outcome.passed += differing;
  if (differing == 0) return;
  const std::string updated = ide::updated_transcript(transcript, outputs);
  // A line that looks like a prompt or ends a block would be parsed as such.
  if (ide::parse_transcript(path, updated).steps.size() != transcript.steps.size()) {
    say(fmt::format("`{}` is left as it is: an output of it has lines that a transcript cannot hold", path));
    outcome.code = std::max(outcome.code, kWrong);
  } else if (!replace_file(path, updated)) {
    say(fmt::format("`{}` cannot be written", path));
    outcome.code = std::max(outcome.code, kWrong);
  } else {
    fmt::print("{}: {} outputs of {} are written anew\n", path, differing, outputs.size());
  }
}

int CommandLine::test() {
  const bool has_transcripts =
      std::ranges::any_of(files_, [](auto& path) { return ide::is_transcript(path); });
  if (update_ && !has_transcripts) {
    say("`--update` is for transcripts: .transcript and .md");
    return kMisuse;
  }
  if (!filter_.empty() && has_transcripts) {
    say("`--filter` is for tests of .relay files: the inputs of a transcript need those before them");
    return kMisuse;
  }
  if (!interpret_) warn_about_cache(compiler_.cache);
  TestOutcome outcome;
  for (const std::string& path : files_)
    ide::is_transcript(path) ? test_transcript(path, outcome) : test_program(path, outcome);
  fmt::print("{} passed, {} failed\n", outcome.passed, outcome.failed);
  // A filter that matches no test is a mistake, since nothing is tested then.
  const bool nothing = outcome.passed + outcome.failed == 0 && outcome.code == kFine;
  if (nothing)
    say(filter_.empty() ? "there is no `test` and no `>>>` in these files"
                        : fmt::format("no test's name contains `{}`", filter_));
  return nothing && !filter_.empty() ? kWrong : outcome.code;
}

}  // namespace quern
