// textDocument/diagnostic: diagnostics for clients that pull them.

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lsp/cursor.h"
#include "lsp/diagnostics.h"
#include "lsp/evaluation/transcripts.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// All diagnostics with a result id, or that they are unchanged since the result id that the client has. Throws Stopped
/// if that was cancelled.
template <class Json>
Json pull_diagnostics(ServerState& state, const Json& params) {
  const std::optional<Asked> asked = asked_document(state, params);
  Json items = Json::array();
  if (asked) {
    const auto checked = state.session.check(asked->source, state.stop);
    if (std::holds_alternative<Cancelled>(checked)) throw Stopped{};
    items = to_json<Json>(state, *asked->document, std::get<Checked>(checked));
    add_failures(state, *asked->document, items);
  } else if (const Document* transcript = transcript_of(state, params.at("textDocument").at("uri"))) {
    add_failures(state, *transcript, items);
  }
  const std::string name = fmt::format("{:x}", std::hash<Json>()(items));
  if (params.value("previousResultId", "") == name) return {{"kind", "unchanged"}, {"resultId", name}};
  return {{"kind", "full"}, {"resultId", name}, {"items", std::move(items)}};
}

template nlohmann::json pull_diagnostics(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
