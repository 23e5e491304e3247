#pragma once
// The handlers of the methods of methods.def. A deferred one sends its answer, or throws; each takes a message's params
// and may throw what their JSON throws (lsp/protocol.h); the document of the message may be closed, or out of step with
// the client.

#include "lsp/state.h"

namespace quern::lsp {

#define QUERN_REQUEST(method, handler, capability) \
  template <class Json>                            \
  Json handler(ServerState& state, const Json& params);
#define QUERN_NOTIFICATION(method, handler, capability) \
  template <class Json>                                 \
  void handler(ServerState& state, const Json& params);
#define QUERN_DEFERRED(method, handler, capability) \
  template <class Json>                             \
  void handler(ServerState& state, const Json& id, const Json& params);
#include "lsp/methods.def"
#undef QUERN_DEFERRED
#undef QUERN_NOTIFICATION
#undef QUERN_REQUEST

}  // namespace quern::lsp
