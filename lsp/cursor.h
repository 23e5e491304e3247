#pragma once
// The subject of a request: `textDocument` of its params, and `position` or `range` in it.

#include <algorithm>
#include <optional>
#include <string>

#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

/// A document with the conversion of its positions.
struct Asked {
  const Document* document;
  SourceId source;
  Positions positions;
};

/// Nothing for a document that is not open, or is out of step with the client.
template <class Json>
std::optional<Asked> asked_document(ServerState& state, const Json& params) {
  const Document* document =
      state.documents.find(params.at("textDocument").at("uri").template get_ref<const std::string&>());
  if (!document || !document->in_step) return std::nullopt;
  return Asked{document, document->source, Positions(state.session.text(document->source), state.encoding)};
}

/// The source of a document, open or on the disk; nothing if there is none, or if it is out of step with the client.
template <class Json>
std::optional<SourceId> asked_source(ServerState& state, const Json& params) {
  return state.documents.source_of(
      params.at("textDocument").at("uri").template get_ref<const std::string&>());
}

/// The bytes of a range; empty if it ends before it starts.
template <class Json>
Range asked_range(const Asked& asked, const Json& range) {
  const PositionRange at = to_range(range);
  const uint32_t begin = asked.positions.offset(at.start);
  return {begin, std::max(begin, asked.positions.offset(at.end))};
}

struct Cursor {
  SourceId source;
  uint32_t offset;
  Positions positions;  ///< of the document's text
};

/// As above.
template <class Json>
std::optional<Cursor> cursor_of(ServerState& state, const Json& params) {
  const Position position = to_position(params.at("position"));
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return std::nullopt;
  return Cursor{asked->source, asked->positions.offset(position), asked->positions};
}

}  // namespace quern::lsp
