// workspace/didChangeWatchedFiles: when files that the client does not have open change on the disk, their importers
// are checked again.

#include <nlohmann/json.hpp>

#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

using nlohmann::json;

template <class Json>
void did_change_watched_files(ServerState& state, const Json&) {
  state.documents.reread_files();
  if (state.client.refreshes_diagnostics)
    send_request<Json>(state.transport, "refresh-diagnostics", "workspace/diagnostic/refresh", nullptr);
}

template void did_change_watched_files(ServerState&, const json&);

}  // namespace quern::lsp
