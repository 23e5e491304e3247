// textDocument/selectionRange.

#include <nlohmann/json.hpp>
#include <vector>

#include "ide/selection.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

/// One for each position; null for an unknown document.
template <class Json>
Json selection_range(ServerState& state, const Json& params) {
  const auto source = asked_source(state, params);
  if (!source) return nullptr;
  const Positions positions(state.session.text(*source), state.encoding);
  Json all = Json::array();
  for (const Json& position : params.at("positions")) {
    const std::vector<Range> ranges =
        ide::selections(state.session, *source, positions.offset(to_position(position)));
    Json selection;
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
      Json outer = std::move(selection);
      selection = {{"range", to_json<Json>(positions.range(*range))}};
      if (!outer.is_null()) selection["parent"] = std::move(outer);
    }
    all.push_back(std::move(selection));
  }
  return all;
}

template nlohmann::json selection_range(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
