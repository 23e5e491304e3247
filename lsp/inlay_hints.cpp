// textDocument/inlayHint and its resolve: types and names of attributes that a text omits, and results of evaluated
// parts.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ide/attribute_hints.h"
#include "ide/type_hints.h"
#include "lsp/cursor.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

/// A text, truncated with an ellipsis if it is long; the tooltip has all of it.
std::string glance(const std::string& text) {
  constexpr size_t kMost = 60;
  size_t end = kMost;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end >= text.size() ? text : text.substr(0, end) + "…";
}

}  // namespace

/// The results of evaluated parts, each at the end of its line.
template <class Json>
void add_results(ServerState& state, const Asked& asked, Range range, Json& hints) {
  const std::string& text = state.session.text(asked.source);
  for (const KeptResult& kept : state.evaluations.results(asked.document->path, text)) {
    const ide::EvaluatedPart& part = kept.part;
    if (part.is_test || !part.note.empty() || part.range.end < range.begin || part.range.begin > range.end)
      continue;
    if (!part.value && !part.failure) continue;
    const auto end = static_cast<uint32_t>(std::min(text.find_first_of("\r\n", part.range.end), text.size()));
    const std::string shown = part.failure ? "failed: " + part.failure->message : "= " + part.value->text;
    const Json at = to_json<Json>(asked.positions.range({end, end}));
    Json hint = {
        {"position", at.at("start")},
        {"label", glance(shown.substr(0, shown.find('\n'))) + (kept.is_stale ? " (of an earlier text)" : "")},
        {"paddingLeft", true}};
    hint["tooltip"] = {{"kind", "markdown"},
                       {"value", part.failure ? part.failure->message : ide::to_markdown(*part.value)}};
    hints.push_back(std::move(hint));
  }
}

/// The hints in a range; accepting one inserts the annotation, if that is possible, or the name.
template <class Json>
Json inlay_hints(ServerState& state, const Json& params) {
  const Json& range = params.at("range");
  const std::optional<Asked> asked = asked_document(state, params);
  if (!asked) return nullptr;
  ide::KnownHints& known = state.documents.find(asked->document->uri)->hints;
  Json hints = Json::array();
  for (const ide::TypeHint& hint :
       ide::type_hints(state.session, asked->source, asked_range(*asked, range), known)) {
    const PositionRange place = asked->positions.range({hint.offset, hint.offset});
    const Json at = to_json<Json>(place);
    Json shown = {
        {"position", at.at("start")}, {"label", glance(hint.text)}, {"kind", 1}, {"data", hint.text}};
    if (hint.can_be_inserted) shown["textEdits"] = Json::array({{{"range", at}, {"newText", hint.text}}});
    hints.push_back(std::move(shown));
  }
  for (const ide::AttributeHint& hint :
       ide::attribute_hints(state.session, asked->source, asked_range(*asked, range))) {
    const Json at = to_json<Json>(asked->positions.range({hint.offset, hint.offset}));
    const std::string name = hint.name + "=";
    hints.push_back({{"position", at.at("start")},
                     {"label", name},
                     {"kind", 2},
                     {"textEdits", Json::array({{{"range", at}, {"newText", name}}})}});
  }
  add_results(state, *asked, asked_range(*asked, range), hints);
  return hints;
}

/// The hint with its whole text as tooltip, if it is a type hint.
template <class Json>
Json resolve_inlay_hint(ServerState&, const Json& hint) {
  if (!hint.contains("data")) return hint;
  Json resolved = hint;
  resolved["tooltip"] = {
      {"kind", "markdown"},
      {"value", fmt::format("```quern\n{}\n```", hint.at("data").template get_ref<const std::string&>())}};
  return resolved;
}

template nlohmann::json inlay_hints(ServerState&, const nlohmann::json&);
template nlohmann::json resolve_inlay_hint(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
