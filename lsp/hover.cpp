// textDocument/hover: types of expressions, documentation of operators.

#include <nlohmann/json.hpp>
#include <optional>

#include "ide/hover.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// Markdown and the range that it is about, or null.
template <class Json>
Json hover(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  std::optional<ide::Hover> found = ide::hover(state.session, at->source, at->offset);
  if (!found) return nullptr;
  Json contents = {{"kind", "markdown"}, {"value", to_markdown(*found)}};
  return {{"contents", contents}, {"range", to_json<Json>(at->positions.range(found->range))}};
}

template nlohmann::json hover(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
