#include "lsp/workspace_edit.h"

#include <map>
#include <nlohmann/json.hpp>

#include "lsp/locations.h"

namespace quern::lsp {

template <class Json>
Json to_workspace_edit(ServerState& state, const std::vector<ide::SourceEdit>& edits) {
  Locations locations(state);
  std::map<SourceId, Json> of_source;
  for (const ide::SourceEdit& edit : edits) {
    Json& list = of_source.try_emplace(edit.source, Json::array()).first->second;
    list.push_back(
        {{"range", locations.template range_json<Json>(edit.source, edit.range)}, {"newText", edit.text}});
  }
  Json changes = Json::object(), document_changes = Json::array();
  for (auto& [source, list] : of_source) {
    const Document* document = state.documents.of_source(source);
    Json version = document ? Json(document->version) : Json();
    document_changes.push_back(
        {{"textDocument", {{"uri", locations.uri(source)}, {"version", version}}}, {"edits", list}});
    changes[locations.uri(source)] = list;
  }
  return state.client.document_changes ? Json{{"documentChanges", document_changes}}
                                       : Json{{"changes", changes}};
}

template nlohmann::json to_workspace_edit(ServerState&, const std::vector<ide::SourceEdit>&);

}  // namespace quern::lsp
