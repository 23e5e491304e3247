// textDocument/formatting and rangeFormatting: the canonical layout.

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

/// The edits that lay a document out, or the declarations on some of its lines.
template <class Json>
Json layout_edits(ServerState& state, const Asked& asked, std::optional<LineRange> lines) {
  const Result<FormatResult> formatted = state.session.format(asked.source, lines);
  if (!formatted) {
    log_message(state.transport, formatted.error().message);
    return nullptr;
  }
  Json edits = Json::array();
  for (const FormatEdit& edit : formatted->edits)
    edits.push_back({{"range", to_json<Json>(asked.positions.range(edit.range))}, {"newText", edit.text}});
  return edits;
}

}  // namespace

/// There is only one layout, so the options are ignored. Text that does not parse stays unchanged.
template <class Json>
Json formatting(ServerState& state, const Json& params) {
  const std::optional<Asked> asked = asked_document(state, params);
  return asked ? layout_edits<Json>(state, *asked, std::nullopt) : nullptr;
}

/// Formats the declarations that the range touches, as a whole.
template <class Json>
Json range_formatting(ServerState& state, const Json& params) {
  const PositionRange range = to_range(params.at("range"));
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  // A selection of whole lines ends where the next line begins.
  const bool ends_before = range.end.character == 0 && range.end.line > range.start.line;
  const auto from_one = [](uint32_t line) { return std::min(line, UINT32_MAX - 1) + 1; };
  const uint32_t first = from_one(range.start.line);
  const uint32_t last = ends_before ? range.end.line : from_one(range.end.line);
  return layout_edits<Json>(state, *asked, LineRange{first, std::max(first, last)});
}

template nlohmann::json formatting(ServerState&, const nlohmann::json&);
template nlohmann::json range_formatting(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
