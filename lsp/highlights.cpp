// textDocument/documentHighlight: the occurrences of the name under the cursor.

#include <nlohmann/json.hpp>
#include <optional>

#include "ide/highlights.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// The occurrences of a name, its declaration as a write; empty if there is no name.
template <class Json>
Json document_highlight(ServerState& state, const Json& params) {
  enum Kind { Read = 2, Write = 3 };  // of the protocol's DocumentHighlightKind
  Json found = Json::array();
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return found;
  for (const ide::Highlight& h : ide::highlights(state.session, at->source, at->offset))
    found.push_back(
        {{"range", to_json<Json>(at->positions.range(h.range))}, {"kind", h.declares ? Write : Read}});
  return found;
}

template nlohmann::json document_highlight(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
