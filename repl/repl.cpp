#include "repl/repl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "generated/config.h"
#include "ir/base/interrupt.h"
#include "ir/io/mapped_file.h"
#include "lsp/attach/attached_server.h"
#include "repl/assistant.h"
#include "repl/commands/commands.h"
#include "repl/editor/reader.h"
#include "repl/input.h"
#include "repl/interrupt.h"
#include "repl/progress.h"
#include "repl/settings/settings_file.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// Reads inputs through the editor, or line by line if the input is no terminal with a movable cursor.
class Inputs {
 public:
  Inputs(Workspace& workspace, const ReplOptions& options)
      : assistant_(workspace),
        history_(options.interactive ? editor::history_path() : std::filesystem::path()) {
    const auto colours = options.colour ? editor::Colours::Sixteen : editor::Colours::None;
    if (options.interactive) interrupts_.emplace();
    if (options.interactive && editor::Terminal::is_capable(STDIN_FILENO, STDOUT_FILENO))
      edited_.emplace(STDIN_FILENO, STDOUT_FILENO, assistant_, history_, colours);
    else
      lines_.emplace(STDIN_FILENO, interrupts_ ? &*interrupts_ : nullptr, options.interactive);
  }
  std::optional<std::string> next() { return edited_ ? edited_->next() : lines_->next(); }

 private:
  LanguageAssistant assistant_;
  editor::History history_;
  std::optional<Interrupts> interrupts_;
  std::optional<editor::Reader> edited_;
  std::optional<InputReader> lines_;
};

/// Updates the session with the texts of the attached editor.
void update_from(lsp::AttachedServer& server, Session& session) {
  server.update(session);
  if (server.has_ended())
    fmt::print(stderr, "the language server has ended: files are those on the disk from now on\n");
}

}  // namespace

int run_repl(Session& session, const ReplOptions& options) {
  if (options.interactive) fmt::print("Quern {}; `:help` lists the commands\n", QUERN_VERSION);
  if (options.interactive && options.attached)
    fmt::print("Attached to the language server at {}\n", options.attached->socket().string());
  std::fflush(stdout);
  Workspace workspace(session, options);
  // The settings of a user must not change the output of scripts.
  if (options.interactive) workspace.take_settings(user_settings_path());
  workspace.take_settings(project_settings_path());
  Inputs inputs(workspace, options);
  ProgressLine progress;
  bool failed = false;
  while (auto input = inputs.next()) {
    const InterruptibleWork interruptible;
    session.watch(&interrupt_flag);
    if (options.attached) update_from(*options.attached, session);
    const ProgressLine::Input working(progress);
    CommandOutcome outcome = take_input(workspace, *input);
    if (const auto lost = take_lost_file(); lost && !workspace.complain(*lost))
      outcome = CommandOutcome::Failed;
    if (outcome == CommandOutcome::Quit) break;
    std::fflush(stdout);
    failed = failed || outcome == CommandOutcome::Failed;
  }
  if (!options.interactive) failed = !workspace.finish() || failed;
  std::fflush(stdout);
  return failed && !options.interactive ? 1 : 0;
}

}  // namespace quern
