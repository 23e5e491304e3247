// initialized: asks the client to report changes of files and of its settings, and for the settings.

#include <nlohmann/json.hpp>

#include "lsp/configuration.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

template <class Json>
void initialized(ServerState& state, const Json&) {
  Json registrations = Json::array();
  // The types of what `load` reads are in its files.
  const Json watchers =
      Json::array({{{"globPattern", "**/*.{relay,npy,npz,safetensors,csv,txt,png,jpg,jpeg,idx,bin}"}}});
  if (state.client.watches_files)
    registrations.push_back({{"id", "relay-files"},
                             {"method", "workspace/didChangeWatchedFiles"},
                             {"registerOptions", {{"watchers", watchers}}}});
  if (state.client.reports_settings)
    registrations.push_back({{"id", "settings"},
                             {"method", "workspace/didChangeConfiguration"},
                             {"registerOptions", {{"section", "quern"}}}});
  if (!registrations.empty())
    send_request<Json>(state.transport, "register", "client/registerCapability",
                       {{"registrations", registrations}});
  if (state.client.gives_settings) ask_for_settings(state);
}

template void initialized(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
