// textDocument/documentHighlight: where a text names what the name under the cursor stands for.

#include <nlohmann/json.hpp>
#include <optional>

#include "ide/highlights.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// Its places, the declaration's as one that is written; empty where no name is.
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
