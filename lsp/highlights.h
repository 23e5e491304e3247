#pragma once
// textDocument/documentHighlight: where a text names what the name under the cursor stands for.

#include "lsp/state.h"

namespace quern::lsp {

/// Its places, the declaration's as one that is written; empty where no name is.
template <class Json>
Json document_highlight(ServerState& state, const Json& params);

}  // namespace quern::lsp
