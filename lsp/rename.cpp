// textDocument/prepareRename and rename.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ide/rename.h"
#include "lsp/cursor.h"
#include "lsp/locations.h"
#include "lsp/methods.h"
#include "lsp/named_cursor.h"
#include "lsp/workspace_edit.h"

namespace quern::lsp {

/// The name without its sigil, or null if there is none; fails with the reason if it cannot be renamed.
template <class Json>
Json prepare_rename(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  const auto name = at ? ide::renamable_at(state.session, at->source, at->offset) : std::nullopt;
  if (!name) return nullptr;
  if (!*name) throw RequestFailed(name->error().message);
  const ide::NamePlace& place = name->value();
  return {{"range", to_json<Json>(at->positions.range(place.range))},
          {"placeholder", ide::text_at(state.session, place)}};
}

/// A WorkspaceEdit, or null for an unknown document.
template <class Json>
Json rename(ServerState& state, const Json& params) {
  const auto& new_name = params.at("newName").template get_ref<const std::string&>();
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  name_under(state, *at);
  const auto edits = ide::rename(state.session, at->source, at->offset, new_name);
  if (!edits) throw RequestFailed(edits.error().message);
  const Locations locations(state);
  for (const ide::SourceEdit& edit : *edits)
    if (!locations.is_known(edit.source))
      throw RequestFailed(fmt::format("the text of {} is not known any more: close and reopen it",
                                      state.session.path(edit.source)));
  return to_workspace_edit<Json>(state, *edits);
}

template nlohmann::json prepare_rename(ServerState&, const nlohmann::json&);
template nlohmann::json rename(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
