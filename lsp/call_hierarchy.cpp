// textDocument/prepareCallHierarchy, callHierarchy/incomingCalls and outgoingCalls.

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ide/call_hierarchy.h"
#include "lsp/cursor.h"
#include "lsp/locations.h"
#include "lsp/methods.h"
#include "lsp/named_cursor.h"
#include "lsp/symbol_kinds.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

json to_item(Locations& locations, const ide::CallItem& item) {
  json made = {{"name", item.symbol.name},
               {"kind", protocol_kind(item.symbol.kind)},
               {"uri", locations.uri(item.source)},
               {"range", locations.range_json<json>(item.source, item.symbol.range)},
               {"selectionRange", locations.range_json<json>(item.source, item.symbol.name_range)}};
  if (!item.symbol.detail.empty()) made["detail"] = item.symbol.detail;
  return made;
}

/// The place of an item that a client sends back; nothing if its document has become unknown.
struct ItemPlace {
  Cursor name;
  Range whole;
};
std::optional<ItemPlace> place_of(ServerState& state, const json& params) {
  const json& item = params.at("item");
  const auto source = state.documents.source_of(item.at("uri").get_ref<const std::string&>());
  const PositionRange range = to_range(item.at("range")), name = to_range(item.at("selectionRange"));
  if (!source) return std::nullopt;
  const Positions positions(state.session.text(*source), state.encoding);
  return ItemPlace{{*source, positions.offset(name.start), positions},
                   {positions.offset(range.start), positions.offset(range.end)}};
}

json ranges_of(Locations& locations, SourceId source, const std::vector<Range>& places) {
  json ranges = json::array();
  for (const Range place : places) ranges.push_back(locations.range_json<json>(source, place));
  return ranges;
}

}  // namespace

/// One item, or null if the name cannot be called.
template <class Json>
Json prepare_call_hierarchy(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  const auto item = at ? ide::call_item(state.session, at->source, at->offset) : std::nullopt;
  if (!item) return nullptr;
  Locations locations(state);
  return Json::array({to_item(locations, *item)});
}

template <class Json>
Json incoming_calls(ServerState& state, const Json& params) {
  const std::optional<ItemPlace> at = place_of(state, params);
  if (!at) return nullptr;
  name_under(state, at->name);
  Locations locations(state);
  Json calls = Json::array();
  for (const ide::Call& call : ide::incoming_calls(state.session, at->name.source, at->name.offset))
    if (locations.is_known(call.other.source))
      calls.push_back({{"from", to_item(locations, call.other)},
                       {"fromRanges", ranges_of(locations, call.other.source, call.places)}});
  return calls;
}

template <class Json>
Json outgoing_calls(ServerState& state, const Json& params) {
  const std::optional<ItemPlace> at = place_of(state, params);
  if (!at) return nullptr;
  Locations locations(state);
  Json calls = Json::array();
  for (const ide::Call& call : ide::outgoing_calls(state.session, at->name.source, at->whole))
    if (locations.is_known(call.other.source))
      calls.push_back({{"to", to_item(locations, call.other)},
                       {"fromRanges", ranges_of(locations, at->name.source, call.places)}});
  return calls;
}

template json prepare_call_hierarchy(ServerState&, const json&);
template json incoming_calls(ServerState&, const json&);
template json outgoing_calls(ServerState&, const json&);

}  // namespace quern::lsp
