// workspace/didChangeWatchedFiles: when files that the client does not have open change on the disk, their importers
// are checked again.

#include <nlohmann/json.hpp>

#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

using nlohmann::json;

/// Asks a client that can watch files to watch `.relay` files. Handles `initialized`.
template <class Json>
void watch_files(ServerState& state, const Json&) {
  if (!state.client.watches_files) return;
  // The types of what `load` reads are in its files.
  Json watchers =
      Json::array({{{"globPattern", "**/*.{relay,npy,npz,safetensors,csv,txt,png,jpg,jpeg,idx,bin}"}}});
  Json registration = {{"id", "relay-files"},
                       {"method", "workspace/didChangeWatchedFiles"},
                       {"registerOptions", {{"watchers", watchers}}}};
  Json registrations = Json::array({registration});
  send_request<Json>(state.transport, "register-watchers", "client/registerCapability",
                     {{"registrations", registrations}});
}

template <class Json>
void did_change_watched_files(ServerState& state, const Json&) {
  state.documents.reread_files();
  if (state.client.refreshes_diagnostics)
    send_request<Json>(state.transport, "refresh-diagnostics", "workspace/diagnostic/refresh", nullptr);
}

template void watch_files(ServerState&, const json&);
template void did_change_watched_files(ServerState&, const json&);

}  // namespace quern::lsp
