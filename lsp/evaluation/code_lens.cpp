// textDocument/codeLens: evaluating, testing, timing, and viewing the IR of a function.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ide/lenses.h"
#include "lsp/cursor.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/evaluation/transcripts.h"
#include "lsp/methods.h"

namespace quern::lsp {

namespace {

using Does = ide::Lens::Does;

bool runs_code(Does does) { return does != Does::Gradient && does != Does::Ir; }

std::string_view command_of(Does does) {
  switch (does) {
    case Does::EvaluateFile: return "quern.evaluateFile";
    case Does::Evaluate: return "quern.evaluate";
    case Does::Test:
    case Does::AllTests: return "quern.runTests";
    case Does::Time: return "quern.time";
    case Does::Gradient:
    case Does::Ir: return "quern.show";
  }
  return "";
}

/// The title of a lens, with the result of an earlier run.
std::string title_of(const ide::Lens& lens, const std::vector<KeptResult>& results) {
  const auto known = std::ranges::find_if(results, [&](const KeptResult& kept) {
    return !kept.is_stale && kept.part.range == lens.range &&
           kept.part.is_test == (lens.does == Does::Test) &&
           kept.part.note.empty() == (lens.does != Does::Time);
  });
  const bool is_known = known != results.end();
  switch (lens.does) {
    case Does::EvaluateFile: return "evaluate file";
    case Does::Evaluate: return "evaluate";
    case Does::Test: return is_known ? known->part.failure ? "test: failed" : "test: passed" : "test";
    case Does::AllTests: return "all tests";
    case Does::Time: return is_known ? fmt::format("time: {}", known->part.note) : "time";
    case Does::Gradient: return "gradient";
    case Does::Ir: return "IR";
  }
  return "";
}

template <class Json>
Json argument_of(const ide::Lens& lens, const std::string& uri, const Json& range) {
  Json argument = {{"uri", uri}};
  if (lens.does == Does::Evaluate) argument["range"] = range;
  if (lens.does == Does::Test) argument["name"] = lens.name;
  if (lens.does == Does::Time) argument["function"] = lens.name;
  if (lens.does == Does::Ir || lens.does == Does::Gradient) {
    argument["function"] = lens.name;
    argument["stage"] = lens.does == Does::Ir ? "typed" : "derivative";
  }
  return argument;
}

}  // namespace

/// Lenses that run code are only shown if the server may start the process for it.
template <class Json>
Json code_lenses(ServerState& state, const Json& params) {
  if (const Document* transcript = transcript_of(state, params.at("textDocument").at("uri")))
    return transcript_lenses<Json>(state, *transcript);
  const std::optional<Asked> asked = asked_document(state, params);
  Json shown = Json::array();
  if (!asked || asked->document->read_only) return shown;
  const auto& results = state.evaluations.results(asked->document->path, state.session.text(asked->source));
  for (const ide::Lens& lens : ide::lenses(state.session, asked->source)) {
    const bool is_offered =
        runs_code(lens.does) ? state.evaluations.is_enabled() : state.client.shows_documents;
    if (!is_offered) continue;
    const Json range = to_json<Json>(asked->positions.range(lens.range));
    Json command = {{"title", title_of(lens, results)},
                    {"command", command_of(lens.does)},
                    {"arguments", Json::array({argument_of(lens, asked->document->uri, range)})}};
    const Json first = {{"start", range.at("start")}, {"end", range.at("start")}};
    shown.push_back(
        {{"range", lens.does == Does::Evaluate ? range : first}, {"command", std::move(command)}});
  }
  return shown;
}

template nlohmann::json code_lenses(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
