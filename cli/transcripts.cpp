#include "cli/transcripts.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <sstream>

#include "cli/child_process.h"
#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/commands/commands.h"
#include "repl/interrupt.h"
#include "repl/output_capture.h"
#include "repl/settings/settings_file.h"
#include "repl/workspace.h"

namespace quern {

namespace {

namespace fs = std::filesystem;
using ide::Transcript, ide::TranscriptStep;

constexpr std::chrono::minutes kCommandLimit{10};

/// Changes the working directory for as long as it lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    if (!folder.empty()) fs::current_path(folder, error_);
  }
  ~WorkingFolder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  bool is_there() const { return !error_; }

 private:
  const fs::path before_;
  std::error_code error_;
};

/// The words of a command; text in `'` or `"` is one word, blanks included.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  char quote = 0;
  bool is_word = false;
  for (char c : command) {
    const bool is_quote = quote ? c == quote : c == '\'' || c == '"';
    if (!quote && c == ' ') {
      is_word = false;
      continue;
    }
    if (!is_word) words.emplace_back();
    is_word = true;
    if (is_quote)
      quote = quote ? '\0' : c;
    else
      words.back() += c;
  }
  return words;
}

std::string output_of_command(const TranscriptStep& step) {
  std::vector<std::string> words = words_of(step.text);
  words.front() = own_program();
  const ChildOutcome outcome = run_child(words, kCommandLimit);
  const bool ends = outcome.signal == 0 && !outcome.timed_out;
  return outcome.out + outcome.err + (ends ? "" : ending_of(outcome) + "\n");
}

std::string text_of_file(const TranscriptStep& step) {
  auto text = read_file(step.text);
  return text ? *text : text.error().message;
}

}  // namespace

/// A session and its inputs.
struct TranscriptRunner::Running {
  Running(std::vector<Session::LibraryFile> library, const ReplOptions& options)
      : session(std::move(library)), workspace(session, options) {}

  Session session;
  Workspace workspace;
};

TranscriptRunner::TranscriptRunner(std::string stdlib, ExecutionOptions options, OpenTexts texts)
    : stdlib_(std::move(stdlib)), options_(std::move(options)), texts_(std::move(texts)) {}
TranscriptRunner::~TranscriptRunner() = default;

std::string TranscriptRunner::output_of_input(const TranscriptStep& step) {
  OutputCapture captured;
  if (step.is_fresh) running_.reset();
  if (!running_) {
    auto files = library(stdlib_);
    if (!files) return files.error().message;
    ReplOptions options;
    options.interactive = true;
    options.execution = options_;
    running_ = std::make_unique<Running>(std::move(*files), options);
    for (const auto& [path, text] : texts_) running_->session.open_file(path, text);
    running_->workspace.take_settings(project_settings_path());
  }
  const InterruptibleWork interruptible;
  running_->session.watch(&interrupt_flag);
  if (take_input(running_->workspace, step.text) == CommandOutcome::Quit) running_.reset();
  return captured.take();
}

std::vector<std::vector<std::string>> TranscriptRunner::outputs(const Transcript& transcript) {
  std::vector<std::vector<std::string>> shown;
  for (const TranscriptStep& step : transcript.steps) {
    const WorkingFolder folder(step.folder);
    std::string output;
    if (!folder.is_there())
      output = fmt::format("there is no folder `{}`", step.folder.string());
    else
      switch (step.kind) {
        case TranscriptStep::Kind::Input: output = output_of_input(step); break;
        case TranscriptStep::Kind::Command: output = output_of_command(step); break;
        case TranscriptStep::Kind::File: output = text_of_file(step); break;
      }
    shown.push_back(ide::output_lines(output));
  }
  return shown;
}

}  // namespace quern
