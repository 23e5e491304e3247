#pragma once
// textDocument/didOpen, didChange and didClose.

#include "lsp/state.h"

namespace quern::lsp {

template <class Json>
void did_open(ServerState& state, const Json& params);
/// A change that makes no sense is logged, and the user is asked to reopen the document; until the client
/// sends the whole text again, the document has no diagnostics and no answers.
template <class Json>
void did_change(ServerState& state, const Json& params);
template <class Json>
void did_close(ServerState& state, const Json& params);

}  // namespace quern::lsp
