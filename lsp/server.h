#pragma once
// The language server: the Language Server Protocol 3.17.
//
// Everything that the server knows about programs it asks of the session; this folder turns positions into
// offsets, values into JSON, and messages into calls. User code is never run here.

#include <filesystem>
#include <string>
#include <vector>

#include "lsp/transport.h"
#include "session/session.h"

namespace quern::lsp {

struct ServerOptions {
  /// The command `quern evaluate`, word by word, which runs user code and compiles, in processes of its own; without
  /// it neither is done.
  std::vector<std::string> evaluator;
  /// The socket on which prompts attach to the server (lsp/attach); empty for none. One that cannot be had is shown
  /// to the client, and the server serves without.
  std::filesystem::path socket;
};

/// Serves one client until `exit`, or until it is gone. Each open document is a module of its own in the session.
/// Returns the exit code that the protocol asks for: 0 after `shutdown`, 1 without it.
///
/// Runs on the session thread (repl/session_thread.h); SIGPIPE has to be ignored by the caller.
int run_language_server(Session& session, Transport& transport, const ServerOptions& options = {});

}  // namespace quern::lsp
