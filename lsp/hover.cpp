#include "lsp/hover.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ide/hover.h"
#include "lsp/protocol.h"

namespace quern::lsp {

template <class Json>
Json hover(ServerState& state, const Json& params) {
  const Document* document =
      state.documents.find(params.at("textDocument").at("uri").template get_ref<const std::string&>());
  Position position = to_position(params.at("position"));
  if (!document || !document->in_step) return nullptr;
  Positions positions(state.session.text(document->source), state.encoding);
  std::optional<ide::Hover> found = ide::hover(state.session, document->source, positions.offset(position));
  if (!found) return nullptr;
  Json contents = {{"kind", "markdown"}, {"value", to_markdown(*found)}};
  return {{"contents", contents}, {"range", to_json<Json>(positions.range(found->range))}};
}

template nlohmann::json hover(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
