// textDocument/references: the references to the name under the cursor, in the open documents and in the importing
// files of the workspace.

#include <nlohmann/json.hpp>
#include <optional>

#include "ide/references.h"
#include "lsp/cursor.h"
#include "lsp/locations.h"
#include "lsp/methods.h"
#include "lsp/named_cursor.h"

namespace quern::lsp {

/// Empty if there is no name.
template <class Json>
Json references(ServerState& state, const Json& params) {
  const bool with_declaration = params.at("context").at("includeDeclaration").template get<bool>();
  Json found = Json::array();
  const std::optional<Cursor> at = cursor_of(state, params);
  const auto name = at ? name_under(state, *at) : std::nullopt;
  if (!name) return found;
  Locations locations(state);
  for (const ide::NamePlace& place : ide::references(state.session, name->target))
    if (locations.is_known(place.source) && (with_declaration || !place.declares))
      found.push_back(locations.to_json<Json>(place.source, place.range));
  return found;
}

template nlohmann::json references(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
