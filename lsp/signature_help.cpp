// textDocument/signatureHelp: the call around a place, and its active parameter.

#include "ide/signature_help.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// One signature, whose active parameter shows what it accepts here; null outside of calls. Past the last parameter
/// none is active.
template <class Json>
Json signature_help(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  const auto help = at ? ide::signature_help(state.session, at->source, at->offset) : std::nullopt;
  if (!help) return nullptr;
  // Offsets in a label are UTF-16, whatever was negotiated.
  const Positions in_label(help->line, PositionEncoding::Utf16);
  Json parameters = Json::array();
  for (const Range parameter : help->parameters) {
    const std::string written = help->line.substr(parameter.begin, parameter.end - parameter.begin);
    const PositionRange place = in_label.range(parameter);
    Json shown = {{"label", written}};
    if (state.client.label_offsets) shown["label"] = {place.start.character, place.end.character};
    if (parameters.size() == help->active && !help->expected.empty() && help->expected != written)
      shown["documentation"] = {{"kind", "markdown"},
                                {"value", fmt::format("```quern\n{}\n```", help->expected)}};
    parameters.push_back(std::move(shown));
  }
  Json signature = {{"label", help->line}, {"parameters", parameters}};
  if (!help->documentation.empty())
    signature["documentation"] = {{"kind", "markdown"}, {"value", help->documentation}};
  return {{"signatures", Json::array({signature})},
          {"activeSignature", 0},
          {"activeParameter", help->active.value_or(static_cast<uint32_t>(parameters.size()))}};
}

template nlohmann::json signature_help(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
