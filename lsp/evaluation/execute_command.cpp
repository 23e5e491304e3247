// workspace/executeCommand: a command that runs code is answered when its process has ended.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "ide/evaluable.h"
#include "lsp/cursor.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/evaluation/transcripts.h"
#include "lsp/methods.h"
#include "lsp/virtual_address.h"

namespace quern::lsp {

namespace {

using ide::EvaluationRequest;

template <class Json>
ide::Evaluable evaluated_at(ServerState& state, const Asked& asked, const Json& range) {
  auto found = ide::evaluable_at(state.session, asked.source, asked_range(asked, range));
  if (!found) throw RequestFailed(found.error().message);
  return std::move(*found);
}

/// Shows a virtual document beside the text that it is derived from.
template <class Json>
void show(ServerState& state, const Json& argument) {
  if (!state.client.shows_documents)
    throw RequestFailed("the editor does not show documents that a server names (window/showDocument)");
  const VirtualAddress address{argument.at("stage"), argument.at("function"), argument.at("uri")};
  send_request<Json>(state.transport, "show document", "window/showDocument",
                     {{"uri", uri_of(address)}, {"takeFocus", false}});
}

}  // namespace

/// Params `{"command": …, "arguments": [{"uri": …, …}]}`:
///     quern.evaluate      "range", empty for what is there (ide/evaluable.h)
///     quern.evaluateFile
///     quern.runTests      "name" of a test; without it, all tests, or all inputs of a transcript
///     quern.time          "function", whose parameters have known types
///     quern.show          "function", "stage"
/// The result of those that run code is `{"parts": […], "problems": […], "output": …}`.
template <class Json>
void execute_command(ServerState& state, const Json& id, const Json& params) {
  const auto& command = params.at("command").template get_ref<const std::string&>();
  constexpr std::array<std::string_view, 5> kCommands{"quern.evaluate", "quern.evaluateFile",
                                                      "quern.runTests", "quern.time", "quern.show"};
  if (std::ranges::find(kCommands, command) == kCommands.end())
    throw RequestFailed(fmt::format("there is no command `{}`", command));
  const Json& argument = params.at("arguments").at(0);
  if (command == "quern.show") {
    show(state, argument);
    return send_result<Json>(state.transport, id, nullptr);
  }
  if (!state.evaluations.is_enabled()) throw RequestFailed("this server evaluates nothing");
  const auto start = [&](const EvaluationRequest& request) {
    const bool has_token = params.contains("workDoneToken");
    state.evaluations.start(id.dump(), has_token ? params.at("workDoneToken").dump() : "", request);
  };
  if (const Document* transcript = transcript_of(state, argument.at("uri"))) {
    if (command != "quern.runTests")
      throw RequestFailed(
          fmt::format("`{}` is not for transcripts: their inputs need those before them, and "
                      "`quern.runTests` takes them all",
                      command));
    return start(
        EvaluationRequest{transcript->path, state.documents.texts(transcript), EvaluationRequest::Inputs{}});
  }
  const std::optional<Asked> asked =
      asked_document<Json>(state, {{"textDocument", {{"uri", argument.at("uri")}}}});
  if (!asked) throw RequestFailed(fmt::format("{} is not open", argument.at("uri").dump()));
  EvaluationRequest request{asked->document->path, state.documents.texts(), EvaluationRequest::Program{}};
  if (command == "quern.evaluate") request.what = evaluated_at(state, *asked, argument.at("range"));
  if (command == "quern.runTests") request.what = EvaluationRequest::Tests{argument.value("name", "")};
  if (command == "quern.time") request.what = EvaluationRequest::Timing{argument.at("function")};
  start(std::move(request));
}

template void execute_command(ServerState&, const nlohmann::json&, const nlohmann::json&);

}  // namespace quern::lsp
