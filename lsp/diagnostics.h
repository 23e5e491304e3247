#pragma once
// textDocument/publishDiagnostics.

#include "lsp/state.h"

namespace quern::lsp {

/// Sends what is wrong with the document's latest version: the first 200 diagnostics and one that counts the
/// rest. Notes with a place in the document become related information where the client shows it, all others
/// lines of the message. A document that is out of step has none.
void publish_diagnostics(ServerState& state, const Document& document);
/// Takes away all diagnostics of a document.
void clear_diagnostics(ServerState& state, const Document& document);

}  // namespace quern::lsp
