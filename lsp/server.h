#pragma once
// The language server: the Language Server Protocol 3.17.
//
// All knowledge about programs is in the session; this folder converts positions to offsets, values to JSON, and
// messages to calls. It never runs user code.

#include <filesystem>
#include <string>
#include <vector>

#include "lsp/transport.h"
#include "session/session.h"

namespace quern::lsp {

struct ServerOptions {
  /// The command `quern evaluate`, as words, which runs user code and compiles, in separate processes; without it
  /// neither is done.
  std::vector<std::string> evaluator;
  /// The socket on which prompts attach to the server (lsp/attach); empty for none. If it cannot be created, the server
  /// warns the client and runs without it.
  std::filesystem::path socket;
};

/// Serves one client until `exit`, or until it disconnects. Each open document is a separate module in the session.
/// Returns the exit code that the protocol requires: 0 after `shutdown`, 1 without it.
///
/// Runs on the session thread (repl/session_thread.h); SIGPIPE has to be ignored by the caller.
int run_language_server(Session& session, Transport& transport, const ServerOptions& options = {});

}  // namespace quern::lsp
