#pragma once
// The interactive loop: on a terminal with prompts, over a pipe without.

#include "session/run/execution.h"

namespace quern {

struct ReplOptions {
  bool interactive = false;  ///< prompts, a greeting, and what was defined
  bool colour = false;       ///< in diagnostics
  ExecutionOptions execution{};
};

/// Reads inputs from standard input until its end or `:quit`. Values go to standard output, everything else
/// to standard error. The exit code: 0, or over a pipe 1 when an input failed.
int run_repl(Session& session, const ReplOptions& options);

}  // namespace quern
