#pragma once

#include "lsp/state.h"

namespace quern::lsp {

/// Adds the folders in the params of `initialize`, if there are any.
template <class Json>
void take_workspace_folders(ServerState& state, const Json& params);

}  // namespace quern::lsp
