#pragma once
// Edits of several sources as the protocol's WorkspaceEdit.

#include <vector>

#include "ide/rename.h"
#include "lsp/state.h"

namespace quern::lsp {

/// With the versions of open documents if the client supports them.
template <class Json>
Json to_workspace_edit(ServerState& state, const std::vector<ide::SourceEdit>& edits);

}  // namespace quern::lsp
