#include "lsp/server.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lsp/attach/listener.h"
#include "lsp/dispatch.h"
#include "lsp/inbox.h"
#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

namespace {

/// Ends the running evaluations when it is destroyed, since nothing receives what they post after that.
class Evaluating {
 public:
  Evaluating(ServerState& state, const std::vector<std::string>& command, Inbox& inbox) : state_(state) {
    if (!command.empty())
      state.evaluations.enable(command, [&inbox](Inbox::Task task) { inbox.post(std::move(task)); });
  }
  ~Evaluating() {
    state_.evaluations.stop_all();
    state_.ir_documents.stop_all();
  }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  ServerState& state_;
};

std::unique_ptr<Listener> listen(ServerState& state, const std::filesystem::path& socket, Inbox& inbox) {
  auto listener = Listener::open(state, socket, [&inbox](Inbox::Task task) { inbox.post(std::move(task)); });
  if (listener) return std::move(*listener);
  show_warning(state.transport, fmt::format("no prompt can attach: {}", listener.error().message));
  return nullptr;
}

}  // namespace

int run_language_server(Session& session, Transport& transport, const ServerOptions& options) {
  using Clock = std::chrono::steady_clock;
  // Diagnostics wait for the messages that are already there (a burst of edits is checked once), but at most this long.
  constexpr auto kLongestDelay = std::chrono::milliseconds(300);

  ServerState state(session, transport);
  Clock::time_point last_quiet = Clock::now();
  Inbox inbox(transport, [&state](const std::string& id) {
    state.evaluations.stop(id);
    state.ir_documents.stop(id);
  });
  const Evaluating evaluating(state, options.evaluator, inbox);
  const auto listener = options.socket.empty() ? nullptr : listen(state, options.socket, inbox);
  Dispatcher dispatcher(state, inbox);
  while (auto next = inbox.next()) {
    if (auto* task = std::get_if<Inbox::Task>(&*next)) {
      (*task)();
    } else if (!dispatcher.receive(std::get<std::string>(*next))) {
      break;
    }
    if (listener) listener->publish();
    // An arriving message interrupts checking, which resumes later; but not indefinitely.
    bool late = Clock::now() - last_quiet >= kLongestDelay;
    if (inbox.waiting() && !late) continue;
    if (dispatcher.publish_due(late ? nullptr : &inbox.waiting())) last_quiet = Clock::now();
    if (!inbox.waiting()) dispatcher.work_out_costs();
  }
  return dispatcher.shut_down() ? 0 : 1;
}

}  // namespace quern::lsp
