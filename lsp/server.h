#pragma once
// The language server: the Language Server Protocol 3.17.
//
// Everything that the server knows about programs it asks of the session; this folder turns positions into
// offsets, values into JSON, and messages into calls. User code is never run here.

#include <string>

#include "lsp/transport.h"
#include "session/session.h"

namespace quern::lsp {

/// Serves one client until `exit`, or until it is gone. Each open document is a module of its own in the session.
/// Returns the exit code that the protocol asks for: 0 after `shutdown`, 1 without it.
///
/// `evaluator`: the program whose subcommand `evaluate` runs user code, in a process of its own; without it nothing
/// is run.
///
/// Runs on the session thread (repl/session_thread.h); SIGPIPE has to be ignored by the caller.
int run_language_server(Session& session, Transport& transport, const std::string& evaluator = "");

}  // namespace quern::lsp
