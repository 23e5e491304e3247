// textDocument/documentLink: the files that a document imports and loads.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ide/links.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

/// Empty for an unknown document.
template <class Json>
Json document_link(ServerState& state, const Json& params) {
  Json found = Json::array();
  const auto source = asked_source(state, params);
  if (!source) return found;
  const Positions positions(state.session.text(*source), state.encoding);
  for (const ide::FileLink& link : ide::file_links(state.session, *source)) {
    const std::filesystem::path path = std::filesystem::absolute(link.path).lexically_normal();
    const std::string target =
        link.module ? state.documents.uri_of(*link.module) : uri_of_path(path.string());
    found.push_back({{"range", to_json<Json>(positions.range(link.range))}, {"target", target}});
  }
  return found;
}

template nlohmann::json document_link(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
