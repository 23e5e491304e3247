#pragma once
// The place in a document that a request is about: `textDocument` and `position` of its params.

#include <optional>
#include <string>

#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

struct Cursor {
  SourceId source;
  uint32_t offset;
  Positions positions;  ///< of the document's text
};

/// Nothing for a document that is not open, or whose text is not the client's.
template <class Json>
std::optional<Cursor> cursor_of(ServerState& state, const Json& params) {
  const Document* document =
      state.documents.find(params.at("textDocument").at("uri").template get_ref<const std::string&>());
  const Position position = to_position(params.at("position"));
  if (!document || !document->in_step) return std::nullopt;
  Positions positions(state.session.text(document->source), state.encoding);
  return Cursor{document->source, positions.offset(position), positions};
}

}  // namespace quern::lsp
