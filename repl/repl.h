#pragma once
// The interactive loop: on a terminal with prompts, over a pipe without.

#include <functional>
#include <string>

#include "repl/picture/picture.h"
#include "session/run/execution.h"

namespace quern {

namespace lsp {
class AttachedServer;
}

struct ReplOptions {
  bool interactive = false;  ///< prompts, a greeting, and what was defined
  bool colour = false;       ///< in diagnostics
  ExecutionOptions execution{};
  lsp::AttachedServer* attached = nullptr;  ///< whose texts count before those on the disk; may be null
  /// Takes a picture that is shown, and the same in characters; empty where these go to standard output.
  std::function<void(const picture::Picture&, const std::string& text)> show_picture{};
};

/// Reads inputs from standard input until its end or `:quit`. Values go to standard output, everything else
/// to standard error. The exit code: 0, or over a pipe 1 when an input failed.
int run_repl(Session& session, const ReplOptions& options);

}  // namespace quern
