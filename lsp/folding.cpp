// textDocument/foldingRange: brackets, comments, imports and metadata of several lines.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ide/folding.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

/// Empty for an unknown document. For a client that folds whole lines, the line of a closing bracket stays.
template <class Json>
Json folding_range(ServerState& state, const Json& params) {
  Json found = Json::array();
  const auto source = asked_source(state, params);
  if (!source) return found;
  const std::string& text = state.session.text(*source);
  const Positions positions(text, state.encoding);
  for (const ide::Fold& fold : ide::folds(text)) {
    const PositionRange range = positions.range(fold.range);
    const bool stays = state.client.folds_lines && fold.kind == ide::FoldKind::Brackets;
    const uint32_t end = range.end.line - (stays ? 1 : 0);
    if (end <= range.start.line) continue;
    Json item = {{"startLine", range.start.line}, {"endLine", end}};
    if (!state.client.folds_lines) {
      item["startCharacter"] = range.start.character;
      item["endCharacter"] = range.end.character;
    }
    switch (fold.kind) {
      case ide::FoldKind::Brackets: break;
      case ide::FoldKind::Comment: item["kind"] = "comment"; break;
      case ide::FoldKind::Imports: item["kind"] = "imports"; break;
      case ide::FoldKind::Region: item["kind"] = "region"; break;
    }
    found.push_back(std::move(item));
  }
  return found;
}

template nlohmann::json folding_range(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
