#include "lsp/highlights.h"

#include <nlohmann/json.hpp>
#include <string>

#include "ide/highlights.h"
#include "lsp/protocol.h"

namespace quern::lsp {

template <class Json>
Json document_highlight(ServerState& state, const Json& params) {
  enum Kind { Read = 2, Write = 3 };  // of the protocol's DocumentHighlightKind
  const Document* document =
      state.documents.find(params.at("textDocument").at("uri").template get_ref<const std::string&>());
  const Position position = to_position(params.at("position"));
  Json found = Json::array();
  if (!document || !document->in_step) return found;
  Positions positions(state.session.text(document->source), state.encoding);
  for (const ide::Highlight& h : ide::highlights(state.session, document->source, positions.offset(position)))
    found.push_back(
        {{"range", to_json<Json>(positions.range(h.range))}, {"kind", h.declares ? Write : Read}});
  return found;
}

template nlohmann::json document_highlight(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
