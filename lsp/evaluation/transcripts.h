#pragma once
// Transcripts as documents: their results, a lens that compares their outputs, and edits that update them.

#include <string>

#include "lsp/state.h"

namespace quern::lsp {

/// The open transcript of a URI; null if there is none, or if it is out of step with the client.
const Document* transcript_of(ServerState& state, const std::string& uri);

/// The lens above the first step.
template <class Json>
Json transcript_lenses(ServerState& state, const Document& transcript);
/// Actions that update the outputs that a range touches, or all of them.
template <class Json>
Json transcript_actions(ServerState& state, const Document& transcript, const Json& range);

}  // namespace quern::lsp
