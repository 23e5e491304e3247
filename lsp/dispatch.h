#pragma once
// From messages to handlers: the life cycle of a server, and the table of its methods.

#include <atomic>
#include <string_view>

#include "lsp/inbox.h"
#include "lsp/state.h"

namespace quern::lsp {

class Dispatcher {
 public:
  Dispatcher(ServerState& state, Inbox& inbox) : state_(state), inbox_(inbox) {
    state.stop = &inbox.overtaken();
  }

  /// Handles one message and answers it if it is a request; a handler that throws is answered with
  /// InternalError, and a request that was cancelled with RequestCancelled. False for `exit`.
  bool receive(std::string_view text);
  /// Publishes the diagnostics of the documents that changed. False if that was cancelled because `stop` became true:
  /// what is not published stays due.
  bool publish_due(const std::atomic<bool>* stop);
  /// Computes the costs that were missing in responses.
  void work_out_costs();
  bool shut_down() const { return phase_ == Phase::ShutDown; }

 private:
  enum class Phase { Created, Serving, ShutDown };

  template <class Json>
  void request(const Json& id, std::string_view method, const Json& params);
  template <class Json>
  void response(const Json& id, const Json& result);
  template <class Json>
  void notification(std::string_view method, const Json& params);
  template <class Json>
  Json initialize(const Json& params);

  ServerState& state_;
  Inbox& inbox_;
  Phase phase_ = Phase::Created;
};

}  // namespace quern::lsp
