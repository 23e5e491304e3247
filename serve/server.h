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
  /// The command that evaluates and compiles what the page asks for, in processes of its own (lsp/server.h).
  std::vector<std::string> evaluator;
  /// Told once the server listens: the page's address for whoever started it, and the same for a program that is
  /// started to open it, which works once.
  std::function<void(const std::string& address, const std::string& once)> ready;
};

/// Serves until SIGINT or SIGTERM. Fails where it cannot listen. User code is never run here.
Result<Done> serve(const ServeOptions& options);

}  // namespace quern::serve
