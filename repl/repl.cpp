#include "repl/repl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "generated/config.h"
#include "repl/repl_commands.h"
#include "repl/repl_input.h"
#include "repl/repl_interrupt.h"
#include "repl/repl_workspace.h"

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
    bool fine = true;
    if (input->starts_with(':')) {
      CommandOutcome outcome = run_command(workspace, *input);
      if (outcome == CommandOutcome::Quit) break;
      fine = outcome == CommandOutcome::Fine;
    } else {
      fine = workspace.submit(std::move(*input));
    }
    std::fflush(stdout);
    failed = failed || !fine;
  }
  std::fflush(stdout);
  return failed && !options.interactive ? 1 : 0;
}

}  // namespace quern
