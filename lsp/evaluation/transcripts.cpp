#include "lsp/evaluation/transcripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ide/transcript.h"
#include "lsp/cursor.h"
#include "lsp/evaluation/evaluations.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

std::string title_of_lens(const std::vector<KeptResult>& results) {
  const bool is_known =
      !results.empty() && std::ranges::none_of(results, [](const KeptResult& kept) { return kept.is_stale; });
  if (!is_known) return "compare the outputs";
  const auto differing =
      std::ranges::count_if(results, [](const KeptResult& kept) { return kept.part.failure.has_value(); });
  return differing == 0 ? "outputs: all match"
                        : fmt::format("outputs: {} of {} differ", differing, results.size());
}

json edit_of(const ide::Replacement& rewrite, const Positions& positions) {
  return {{"range", to_json<json>(positions.range(rewrite.range))}, {"newText", rewrite.text}};
}

}  // namespace

const Document* transcript_of(ServerState& state, const std::string& uri) {
  const Document* document = state.documents.find_any(uri);
  return document && document->is_transcript && document->in_step ? document : nullptr;
}

template <class Json>
Json transcript_lenses(ServerState& state, const Document& transcript) {
  const std::string& text = state.documents.text(transcript);
  const auto steps = ide::parse_transcript(transcript.path, text).steps;
  Json lenses = Json::array();
  if (steps.empty() || !state.evaluations.is_enabled()) return lenses;
  const Position first{static_cast<uint32_t>(steps.front().line), 0};
  lenses.push_back({{"range", to_json<Json>(PositionRange{first, first})},
                    {"command",
                     {{"title", title_of_lens(state.evaluations.results(transcript.path, text))},
                      {"command", "quern.runTests"},
                      {"arguments", Json::array({{{"uri", transcript.uri}}})}}}});
  return lenses;
}

template <class Json>
Json transcript_actions(ServerState& state, const Document& transcript, const Json& range) {
  const std::string& text = state.documents.text(transcript);
  const Positions positions(text, state.encoding);
  const Range selected = asked_range(Asked{&transcript, 0, positions}, range);
  Json actions = Json::array(), all = Json::array();
  const auto offer = [&](const std::string& title, const Json& edits) {
    actions.push_back(
        {{"title", title}, {"kind", "quickfix"}, {"edit", {{"changes", {{transcript.uri, edits}}}}}});
  };
  for (const KeptResult& kept : state.evaluations.results(transcript.path, text)) {
    if (!kept.part.rewrite) continue;
    all.push_back(edit_of(*kept.part.rewrite, positions));
    const Range step = kept.part.range;
    if (step.begin <= selected.end && selected.begin < step.end)
      offer("write this output", Json::array({all.back()}));
  }
  if (!actions.empty() && all.size() > 1)
    offer(fmt::format("write all {} outputs that differ", all.size()), all);
  return actions;
}

template json transcript_lenses(ServerState&, const Document&);
template json transcript_actions(ServerState&, const Document&, const json&);

}  // namespace quern::lsp
