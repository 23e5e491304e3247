#pragma once
// `quern serve`: the browser page, and a language server for each WebSocket that it opens, on 127.0.0.1.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "session/session.h"

namespace quern::serve {

struct ServeOptions {
  uint16_t port = 0;           ///< 0: any that is free
  std::filesystem::path page;  ///< the folder of the page's files
  /// The session of a language server; called on the server's own thread.
  std::function<std::unique_ptr<Session>()> make_session;
  /// The command that evaluates and compiles for the page, in child processes (lsp/server.h).
  std::vector<std::string> evaluator;
  /// Called once the server listens, with the address of the page for the user, and a one-time address for a program
  /// that opens the page.
  std::function<void(const std::string& address, const std::string& once)> ready;
};

/// Serves until SIGINT or SIGTERM. Fails if it cannot listen. Never runs user code.
Result<Done> serve(const ServeOptions& options);

}  // namespace quern::serve
