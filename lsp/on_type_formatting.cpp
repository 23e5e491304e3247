// textDocument/onTypeFormatting: the indentation of the line that was begun, or that a bracket closes.

#include <nlohmann/json.hpp>
#include <optional>

#include "ide/indentation.h"
#include "lsp/cursor.h"
#include "lsp/methods.h"

namespace quern::lsp {

/// For `}`, only if it begins its line.
template <class Json>
Json on_type_formatting(ServerState& state, const Json& params) {
  const std::optional<Cursor> at = cursor_of(state, params);
  if (!at) return nullptr;
  const std::string& text = state.session.text(at->source);
  const auto found = ide::indentation_of_line(text, at->offset);
  if (!found) return nullptr;
  const bool is_bracket = params.at("ch") == "}";
  if (is_bracket && (found->blanks.end >= text.size() || text[found->blanks.end] != '}')) return nullptr;
  return Json::array(
      {{{"range", to_json<Json>(at->positions.range(found->blanks))}, {"newText", found->text}}});
}

template nlohmann::json on_type_formatting(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
