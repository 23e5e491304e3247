#include "repl/repl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "generated/config.h"
#include "ir/base/interrupt.h"
#include "repl/commands.h"
#include "repl/input.h"
#include "repl/interrupt.h"
#include "repl/workspace.h"

namespace quern {

int run_repl(Session& session, const ReplOptions& options) {
  std::optional<Interrupts> interrupts;
  if (options.interactive) {
    interrupts.emplace();
    fmt::print("Quern {}; `:help` lists the commands\n", QUERN_VERSION);
  }
  Workspace workspace(session, options);
  InputReader reader(STDIN_FILENO, interrupts ? &*interrupts : nullptr, options.interactive);
  bool failed = false;
  while (auto input = reader.next()) {
    const InterruptibleWork interruptible;
    session.watch(&interrupt_flag);
    CommandOutcome outcome = take_input(workspace, *input);
    if (outcome == CommandOutcome::Quit) break;
    std::fflush(stdout);
    failed = failed || outcome == CommandOutcome::Failed;
  }
  if (!options.interactive) failed = !workspace.finish() || failed;
  std::fflush(stdout);
  return failed && !options.interactive ? 1 : 0;
}

}  // namespace quern
