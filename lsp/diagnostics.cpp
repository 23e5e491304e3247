#include "lsp/diagnostics.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/text/render.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/protocol.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

enum ProtocolSeverity : int { kError = 1, kWarning = 2, kInformation = 3 };

void send(ServerState& state, const Document& document, const json& diagnostics) {
  json params = {{"uri", document.uri}, {"version", document.version}, {"diagnostics", diagnostics}};
  send_notification(state.transport, "textDocument/publishDiagnostics", params);
}

/// Renders the diagnostics of one document.
class Renderer {
 public:
  Renderer(ServerState& state, const Document& document)
      : document_(document),
        positions_(state.session.text(document.source), state.encoding),
        related_information_(state.client.related_information) {}

  json render(const LocatedDiagnostic& diagnostic) {
    std::string message = diagnostic.message;
    json related = json::array();
    for (const LocatedNote& note : diagnostic.notes) {
      if (note.file.empty()) {
        message += fmt::format("\nnote: {}", note.message);
      } else if (related_information_ && is_here(note.file)) {
        json location = {{"uri", document_.uri}, {"range", range(note.range)}};
        related.push_back({{"location", location}, {"message", note.message}});
      } else {
        message += fmt::format("\nnote: {} ({})", note.message, place_of(note.file, note.text, note.range));
      }
    }
    Severity severity = severity_of(diagnostic.kind);
    json result = {{"severity", static_cast<int>(severity == Severity::Error     ? kError
                                                 : severity == Severity::Warning ? kWarning
                                                                                 : kInformation)},
                   {"code", code_of(diagnostic.kind)},
                   {"source", "quern"}};
    // Problems elsewhere (in the library) are reported at the top.
    bool here = is_here(diagnostic.file);
    if (!here)
      message = fmt::format("{}: {}", place_of(diagnostic.file, diagnostic.text, diagnostic.range), message);
    result["range"] = range(here ? diagnostic.range : Range{});
    result["message"] = message;
    if (!related.empty()) result["relatedInformation"] = related;
    return result;
  }

  json render_rest(const LocatedDiagnostic& first, size_t count) const {
    return {{"severity", static_cast<int>(kInformation)},
            {"source", "quern"},
            {"range", range(is_here(first.file) ? first.range : Range{})},
            {"message", fmt::format("… and {} more", count)}};
  }

 private:
  bool is_here(std::string_view file) const { return file == document_.path; }
  json range(Range bytes) const { return to_json<json>(positions_.range(bytes)); }

  std::string place_of(const std::string& file, std::string_view text, Range range) {
    const LineIndex& lines =
        is_here(file) ? positions_.lines() : others_.try_emplace(file, text).first->second;
    const LineColumn at = lines.locate(range.begin);
    return fmt::format("{}:{}:{}", file, at.line, at.column);
  }

  const Document& document_;
  Positions positions_;
  std::map<std::string, LineIndex> others_;  ///< by file
  bool related_information_;
};

}  // namespace

template <class Json>
Json to_json(ServerState& state, const Document& document, const LocatedDiagnostic& diagnostic) {
  return Renderer(state, document).render(diagnostic);
}

template <class Json>
Json to_json(ServerState& state, const Document& document, const Checked& checked) {
  const std::vector<LocatedDiagnostic>& found = checked.diagnostics;
  Json list = Json::array();
  if (found.empty()) return list;
  Renderer renderer(state, document);
  for (size_t i = 0; i < found.size() && i < kMostDiagnostics; ++i) list.push_back(renderer.render(found[i]));
  if (found.size() > kMostDiagnostics)
    list.push_back(renderer.render_rest(found[kMostDiagnostics], found.size() - kMostDiagnostics));
  return list;
}

template <class Json>
void add_failures(ServerState& state, const Document& document, Json& diagnostics) {
  const std::string& text = state.documents.text(document);
  const std::vector<KeptResult>& results = state.evaluations.results(document.path, text);
  if (results.empty()) return;
  const Positions positions(text, state.encoding);
  for (const KeptResult& kept : results) {
    const auto& failure = kept.part.failure;
    if (!failure || !kept.part.is_test) continue;
    const Range at = failure->file == document.path ? failure->range : kept.part.range;
    std::string message = document.is_transcript
                              ? failure->message
                              : fmt::format("test \"{}\": {}", kept.part.name, failure->message);
    if (kept.is_stale) message += "\n(of an earlier text)";
    Json shown = {{"severity", static_cast<int>(kError)},
                  {"source", "quern test"},
                  {"range", to_json<Json>(positions.range(at))},
                  {"message", std::move(message)}};
    if (!failure->code.empty()) shown["code"] = failure->code;
    diagnostics.push_back(std::move(shown));
  }
}

bool publish_diagnostics(ServerState& state, const Document& document, const std::atomic<bool>* stop) {
  if (!document.in_step) {
    clear_diagnostics(state, document);
    return true;
  }
  json diagnostics = json::array();
  if (!document.is_transcript) {
    auto checked = state.session.check(document.source, stop);
    if (std::holds_alternative<Cancelled>(checked)) return false;
    diagnostics = to_json<json>(state, document, std::get<Checked>(checked));
  }
  add_failures(state, document, diagnostics);
  send(state, document, diagnostics);
  return true;
}

void clear_diagnostics(ServerState& state, const Document& document) { send(state, document, json::array()); }

template json to_json(ServerState&, const Document&, const LocatedDiagnostic&);
template json to_json(ServerState&, const Document&, const Checked&);
template void add_failures(ServerState&, const Document&, json&);

}  // namespace quern::lsp
