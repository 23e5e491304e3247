#pragma once
// The interactive loop, with prompts on a terminal and without over a pipe.

#include <functional>
#include <string>

#include "repl/picture/picture.h"
#include "session/run/execution.h"

namespace quern {

namespace lsp {
class AttachedServer;
}

struct ReplOptions {
  bool interactive = false;  ///< shows prompts, a greeting, and what was defined
  bool colour = false;       ///< in diagnostics
  ExecutionOptions execution{};
  lsp::AttachedServer* attached = nullptr;  ///< whose texts take precedence over the disk; may be null
  /// Receives each picture that is shown, and its characters; if empty, pictures are printed to standard output.
  std::function<void(const picture::Picture&, const std::string& text)> show_picture{};
};

/// Reads inputs from standard input until its end or `:quit`. Values are printed to standard output, everything else
/// to standard error. Returns the exit code: 0, or 1 over a pipe if an input failed.
int run_repl(Session& session, const ReplOptions& options);

}  // namespace quern
