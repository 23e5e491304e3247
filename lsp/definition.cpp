// textDocument/definition, declaration and typeDefinition.

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ide/definition.h"
#include "lsp/cursor.h"
#include "lsp/locations.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

/// LocationLinks for a client that takes them, else Locations; null where there is none.
json links_to(ServerState& state, SourceId from, const std::vector<ide::DeclarationLink>& found) {
  Locations locations(state);
  json links = json::array();
  for (const ide::DeclarationLink& link : found) {
    if (!locations.is_known(link.source)) continue;
    if (!state.client.location_links) {
      links.push_back(locations.to_json<json>(link.source, link.name));
      continue;
    }
    links.push_back({{"originSelectionRange", locations.range_json<json>(from, link.origin)},
                     {"targetUri", locations.uri(link.source)},
                     {"targetRange", locations.range_json<json>(link.source, link.whole)},
                     {"targetSelectionRange", locations.range_json<json>(link.source, link.name)}});
  }
  return links.empty() ? json() : links;
}

}  // namespace

template <class Json>
Json definition(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  const auto found = ide::definition(state.session, at->source, at->offset);
  return found ? links_to(state, at->source, {*found}) : Json();
}

template <class Json>
Json type_definition(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  return links_to(state, at->source, ide::type_definitions(state.session, at->source, at->offset));
}

template json definition(ServerState&, const json&);
template json type_definition(ServerState&, const json&);

}  // namespace quern::lsp
