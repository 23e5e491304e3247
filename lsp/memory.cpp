// quern/memory: what the session keeps, by kind, as the prompt's `:memory` shows it: result `[{"kind": "syntax trees",
// "count": 0, "bytes": 12345}, …]`, the count 0 where they are not all of one sort.

#include <nlohmann/json.hpp>

#include "lsp/methods.h"

namespace quern::lsp {

template <class Json>
Json memory(ServerState& state, const Json&) {
  Json rows = Json::array();
  for (const MemoryUse& use : state.session.memory_report())
    rows.push_back({{"kind", use.kind}, {"count", use.count}, {"bytes", use.bytes}});
  return rows;
}

template nlohmann::json memory(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
