#pragma once
// textDocument/hover: types of expressions, documentation of operators.

#include "lsp/state.h"

namespace quern::lsp {

/// Markdown and the range that it is about, or null.
template <class Json>
Json hover(ServerState& state, const Json& params);

}  // namespace quern::lsp
