// textDocument/didOpen, didChange and didClose.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lsp/diagnostics.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

std::vector<TextChange> to_changes(const json& list) {
  std::vector<TextChange> changes;
  for (const json& change : list) {
    TextChange& added = changes.emplace_back();
    added.text = change.at("text").get<std::string>();
    if (change.contains("range")) added.range = to_range(change.at("range"));
  }
  return changes;
}

Document* document_of(ServerState& state, const json& params) {
  std::string uri = params.at("textDocument").at("uri").get<std::string>();
  Document* document = state.documents.find_any(uri);
  if (!document) log_message(state.transport, fmt::format("{} is not open", uri));
  return document;
}

void ask_to_reopen(ServerState& state, Document& document, std::string_view why) {
  document.in_step = false;
  document.diagnostics_due = true;
  log_message(state.transport,
              fmt::format("version {} of {} is rejected: {}", document.version, document.uri, why));
  show_warning(state.transport,
               fmt::format("The text of {} is no longer known to the language server ({}); please close "
                           "and reopen it.",
                           document.path, why));
}

}  // namespace

template <class Json>
void did_open(ServerState& state, const Json& params) {
  const Json& document = params.at("textDocument");
  auto uri = document.at("uri").template get<std::string>();
  if (state.documents.find_any(uri))
    log_message(state.transport, fmt::format("{} is opened while it is open", uri));
  state.documents.open(uri, document.value("version", int64_t{0}),
                       document.at("text").template get<std::string>());
}

/// An invalid change is logged, and the user is asked to reopen the document; until the client sends the whole text
/// again, the document has no diagnostics and no answers.
template <class Json>
void did_change(ServerState& state, const Json& params) {
  Document* document = document_of(state, params);
  if (!document) return;
  state.ir_documents.overtake();
  int64_t before = document->version;
  try {
    document->version = params.at("textDocument").at("version").template get<int64_t>();
    auto done = state.documents.change(*document, to_changes(params.at("contentChanges")), state.encoding);
    if (!done) ask_to_reopen(state, *document, done.error().message);
    if (document->version <= before)
      log_message(state.transport,
                  fmt::format("version {} of {} follows {}", document->version, document->uri, before));
  } catch (const std::exception& error) {
    ask_to_reopen(state, *document, error.what());
  }
}

template <class Json>
void did_close(ServerState& state, const Json& params) {
  Document* document = document_of(state, params);
  if (!document) return;
  state.documents.close(*document);
  if (!state.client.pulls_diagnostics) clear_diagnostics(state, *document);
}

template void did_open(ServerState&, const json&);
template void did_change(ServerState&, const json&);
template void did_close(ServerState&, const json&);

}  // namespace quern::lsp
