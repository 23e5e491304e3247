#pragma once
// Transcripts as documents: what is known of their outputs, a lens that compares them, and edits that write them.

#include <string>

#include "lsp/state.h"

namespace quern::lsp {

/// The open transcript of a URI; null where there is none, or where its text is not the client's.
const Document* transcript_of(ServerState& state, const std::string& uri);

/// The lens above the first step.
template <class Json>
Json transcript_lenses(ServerState& state, const Document& transcript);
/// What writes the outputs that a range touches, or all of them.
template <class Json>
Json transcript_actions(ServerState& state, const Document& transcript, const Json& range);

}  // namespace quern::lsp
