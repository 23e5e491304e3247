#pragma once

#include "lsp/state.h"

namespace quern::lsp {

/// Takes the folders that the params of `initialize` name, if they do.
template <class Json>
void take_workspace_folders(ServerState& state, const Json& params);

}  // namespace quern::lsp
