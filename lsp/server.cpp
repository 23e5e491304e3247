#include "lsp/server.h"

#include <chrono>
#include <optional>
#include <string>

#include "lsp/dispatch.h"
#include "lsp/inbox.h"
#include "lsp/state.h"

namespace quern::lsp {

int run_language_server(Session& session, Transport& transport) {
  using Clock = std::chrono::steady_clock;
  // Diagnostics wait for the messages that are already there (a burst of edits is checked once), but not for
  // longer.
  constexpr auto kLongestDelay = std::chrono::milliseconds(300);

  ServerState state(session, transport);
  Clock::time_point last_quiet = Clock::now();
  Inbox inbox(transport);
  Dispatcher dispatcher(state, inbox);
  while (std::optional<std::string> message = inbox.next()) {
    if (!dispatcher.receive(*message)) break;
    // Checking is given up when a message arrives, and taken up where it was; but not for ever.
    bool late = Clock::now() - last_quiet >= kLongestDelay;
    if (inbox.waiting() && !late) continue;
    if (dispatcher.publish_due(late ? nullptr : &inbox.waiting())) last_quiet = Clock::now();
  }
  return dispatcher.shut_down() ? 0 : 1;
}

}  // namespace quern::lsp
