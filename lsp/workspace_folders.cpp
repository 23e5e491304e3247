// The folders of the client's workspace: those of `initialize`, and workspace/didChangeWorkspaceFolders.

#include <nlohmann/json.hpp>

#include "lsp/methods.h"

namespace quern::lsp {

/// Adds the folders in the params of `initialize`, which need not have any.
template <class Json>
void take_workspace_folders(ServerState& state, const Json& params) {
  if (!params.is_object()) return;
  const auto folders = params.find("workspaceFolders");
  if (folders != params.end() && folders->is_array()) {
    for (const Json& folder : *folders)
      state.workspace.add_folder(path_of_uri(folder.at("uri").template get_ref<const std::string&>()));
    return;
  }
  if (const auto root = params.find("rootUri"); root != params.end() && root->is_string())
    state.workspace.add_folder(path_of_uri(root->template get_ref<const std::string&>()));
}

template <class Json>
void did_change_workspace_folders(ServerState& state, const Json& params) {
  const Json& event = params.at("event");
  for (const Json& folder : event.at("removed"))
    state.workspace.remove_folder(path_of_uri(folder.at("uri").template get_ref<const std::string&>()));
  for (const Json& folder : event.at("added"))
    state.workspace.add_folder(path_of_uri(folder.at("uri").template get_ref<const std::string&>()));
}

template void take_workspace_folders(ServerState&, const nlohmann::json&);
template void did_change_workspace_folders(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
