// textDocument/foldingRange: what an editor may fold away.

#include <nlohmann/json.hpp>

#include "ide/folding.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

/// The brackets and comments of a document over several lines; empty for one that is not open.
template <class Json>
Json folding_range(ServerState& state, const Json& params) {
  Json found = Json::array();
  const Document* document =
      state.documents.find(params.at("textDocument").at("uri").template get_ref<const std::string&>());
  if (!document || !document->in_step) return found;
  const std::string_view text = state.session.text(document->source);
  const Positions positions(text, state.encoding);
  for (const ide::Folding& folding : ide::foldings(text)) {
    const auto [start, end] = positions.range(folding.range);
    Json& range = found.emplace_back(Json{{"startLine", start.line},
                                          {"startCharacter", start.character},
                                          {"endLine", end.line},
                                          {"endCharacter", end.character}});
    if (folding.is_comment) range["kind"] = "comment";
  }
  return found;
}

template nlohmann::json folding_range(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
