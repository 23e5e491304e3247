#pragma once
// Diagnostics in the protocol's form, and textDocument/publishDiagnostics.

#include <atomic>

#include "lsp/state.h"

namespace quern::lsp {

/// Notes with a place in the document become related information where the client shows it, all others lines
/// of the message.
template <class Json>
Json to_json(ServerState& state, const Document& document, const LocatedDiagnostic& diagnostic);
/// The first 200 and one that counts the rest.
template <class Json>
Json to_json(ServerState& state, const Document& document, const Checked& checked);
/// Adds the failures of the tests that were run, or of the steps of a transcript.
template <class Json>
void add_failures(ServerState& state, const Document& document, Json& diagnostics);

/// Sends the diagnostics of the document's latest version. A document that is out of step has none. False, and nothing
/// is sent, if it was cancelled because `stop` became true.
bool publish_diagnostics(ServerState& state, const Document& document, const std::atomic<bool>* stop);
/// Clears all diagnostics of a document.
void clear_diagnostics(ServerState& state, const Document& document);

}  // namespace quern::lsp
