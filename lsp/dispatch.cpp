#include "lsp/dispatch.h"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "generated/config.h"
#include "lsp/configuration.h"
#include "lsp/diagnostics.h"
#include "lsp/methods.h"
#include "lsp/parse_json.h"
#include "lsp/protocol.h"
#include "lsp/workspace_folders.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

using RequestHandler = json (*)(ServerState&, const json& params);
using DeferredHandler = void (*)(ServerState&, const json& id, const json& params);
using NotificationHandler = void (*)(ServerState&, const json& params);

struct Method {
  std::string_view name;
  std::variant<RequestHandler, DeferredHandler, NotificationHandler> handler;
  std::string_view capability;  ///< JSON, merged into the server's capabilities
};

const Method kMethods[] = {
// NOLINTBEGIN(bugprone-macro-parentheses): the handler is a template's name
#define QUERN_REQUEST(method, handler, capability) {method, handler<json>, capability},
#define QUERN_NOTIFICATION(method, handler, capability) {method, handler<json>, capability},
#define QUERN_DEFERRED(method, handler, capability) {method, handler<json>, capability},
#include "lsp/methods.def"
#undef QUERN_DEFERRED
#undef QUERN_NOTIFICATION
#undef QUERN_REQUEST
    // NOLINTEND(bugprone-macro-parentheses)
};

const Method* find_method(std::string_view name) {
  for (const Method& method : kMethods)
    if (method.name == name) return &method;
  return nullptr;
}

// The client's first choice among the encodings that both support.
PositionEncoding negotiated_encoding(const json& params) {
  static const json::json_pointer kOffered("/capabilities/general/positionEncodings");
  if (params.contains(kOffered)) {
    for (const json& offered : params.at(kOffered)) {
      for (auto known : {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32})
        if (offered == name_of(known)) return known;
    }
  }
  return PositionEncoding::Utf16;
}

ClientFeatures client_features(const json& params) {
  auto has = [&](const char* path) {
    const json::json_pointer at(std::string("/capabilities/") + path);
    return params.contains(at) && params.at(at) == true;
  };
  ClientFeatures client;
  client.watches_files = has("workspace/didChangeWatchedFiles/dynamicRegistration");
  client.gives_settings = has("workspace/configuration");
  client.reports_settings = has("workspace/didChangeConfiguration/dynamicRegistration");
  client.related_information = has("textDocument/publishDiagnostics/relatedInformation");
  client.pulls_diagnostics = params.contains(json::json_pointer("/capabilities/textDocument/diagnostic"));
  client.refreshes_diagnostics = has("workspace/diagnostics/refreshSupport");
  client.refreshes_hints = has("workspace/inlayHint/refreshSupport");
  client.refreshes_lenses = has("workspace/codeLens/refreshSupport");
  client.shows_documents = has("window/showDocument/support");
  client.snippets = has("textDocument/completion/completionItem/snippetSupport");
  client.location_links = has("textDocument/definition/linkSupport");
  client.document_changes = has("workspace/workspaceEdit/documentChanges");
  client.folds_lines = has("textDocument/foldingRange/lineFoldingOnly");
  const json::json_pointer resolved("/capabilities/textDocument/codeAction/resolveSupport/properties");
  if (params.contains(resolved))
    for (const json& property : params.at(resolved)) client.resolves_edits |= property == "edit";
  client.label_offsets =
      has("textDocument/signatureHelp/signatureInformation/parameterInformation/labelOffsetSupport");
  return client;
}

/// A bug of Quern as it is reported to a client.
std::string text_of(const InternalFailure& bug, ServerState& state) {
  LocatedDiagnostic reported = state.session.locate(bug);
  for (const LocatedNote& note : reported.notes) reported.message += "; " + note.message;
  return reported.message;
}

}  // namespace

bool Dispatcher::receive(std::string_view text) {
  const auto message = parse_json<json>(text);
  if (message.is_discarded()) {
    send_error<json>(state_.transport, nullptr, kParseError, "the message is not valid JSON");
    return true;
  }
  const json absent;
  auto member = [&](const char* name) -> const json& {
    return message.is_object() && message.contains(name) ? message.at(name) : absent;
  };
  const json &id = member("id"), &method = member("method");
  bool is_response = message.is_object() && !message.contains("method") && !id.is_null();
  if (is_response) {
    response(id, member("result"));
    return true;
  }
  if (!method.is_string() || !(id.is_null() || id.is_string() || id.is_number_integer())) {
    send_error<json>(state_.transport, nullptr, kInvalidRequest,
                     "the message is neither request nor notification");
    return true;
  }
  const auto& name = method.get_ref<const std::string&>();
  if (name == "exit") return false;
  if (message.contains("id"))
    request(id, name, member("params"));
  else
    notification(name, member("params"));
  return true;
}

// Of all requests of the server, that for the settings alone has a response that says something.
template <class Json>
void Dispatcher::response(const Json& id, const Json& result) {
  if (id != kSettingsRequest || !result.is_array() || result.size() != 1) return;
  take_settings(state_, result.front());
}

template <class Json>
void Dispatcher::request(const Json& id, std::string_view name, const Json& params) {
  auto refuse = [&](ErrorCode code, std::string_view why) { send_error(state_.transport, id, code, why); };
  if (phase_ == Phase::ShutDown) return refuse(kInvalidRequest, "the server was shut down");
  if (phase_ == Phase::Created && name != "initialize")
    return refuse(kServerNotInitialized, "`initialize` has to come first");
  if (phase_ == Phase::Serving && name == "initialize")
    return refuse(kInvalidRequest, "the server is initialized already");
  constexpr std::string_view kGivenUp = "the client cancelled it";
  if (inbox_.is_cancelled(id.dump())) return refuse(kRequestCancelled, kGivenUp);
  try {
    Json result;
    const Method* method = find_method(name);
    if (name == "initialize") {
      result = initialize(params);
    } else if (name == "shutdown") {
      phase_ = Phase::ShutDown;
    } else if (!method) {
      return refuse(kMethodNotFound, fmt::format("there is no method `{}`", name));
    } else if (auto* handler = std::get_if<RequestHandler>(&method->handler)) {
      result = (*handler)(state_, params);
    } else if (auto* deferred = std::get_if<DeferredHandler>(&method->handler)) {
      return (*deferred)(state_, id, params);
    } else {
      return refuse(kInvalidRequest, fmt::format("`{}` is a notification and has no id", name));
    }
    send_result(state_.transport, id, result);
  } catch (const Stopped&) {
    if (inbox_.is_cancelled(id.dump())) return refuse(kRequestCancelled, kGivenUp);
    send_error<Json>(state_.transport, id, kServerCancelled, "the text has changed",
                     {{"retriggerRequest", true}});
  } catch (const json::exception& error) {
    refuse(kInvalidParams, fmt::format("`{}` does not take these params: {}", name, error.what()));
  } catch (const RequestFailed& failed) {
    refuse(kRequestFailed, failed.what());
  } catch (const InternalFailure& bug) {
    refuse(kInternalError, fmt::format("`{}` failed: {}", name, text_of(bug, state_)));
  } catch (const std::exception& error) {
    refuse(kInternalError, fmt::format("`{}` failed: {}", name, error.what()));
  }
}

// A notification has no response: its errors go to the client's log. Unknown ones, and those that come before
// `initialize` or after `shutdown`, are ignored; so is $/setTrace.
template <class Json>
void Dispatcher::notification(std::string_view name, const Json& params) {
  const Method* method = find_method(name);
  if (phase_ != Phase::Serving || !method) return;
  state_.costs_to_come.clear();
  auto* handler = std::get_if<NotificationHandler>(&method->handler);
  if (!handler)
    return log_message(state_.transport, fmt::format("`{}` is a request and came without an id", name));
  try {
    (*handler)(state_, params);
  } catch (const InternalFailure& bug) {
    show_warning(state_.transport, fmt::format("`{}` failed: {}", name, text_of(bug, state_)));
  } catch (const std::exception& error) {
    log_message(state_.transport, fmt::format("`{}` failed: {}", name, error.what()));
  }
}

template <class Json>
Json Dispatcher::initialize(const Json& params) {
  state_.encoding = negotiated_encoding(params);
  state_.client = client_features(params);
  take_workspace_folders(state_, params);
  if (params.contains("initializationOptions")) take_settings(state_, params.at("initializationOptions"));
  if (const auto id = params.find("processId"); id != params.end() && id->is_number_integer())
    state_.client_process = std::make_unique<ClientProcess>(
        id->template get<int>(), [&transport = state_.transport] { transport.interrupt(); });
  phase_ = Phase::Serving;
  Json capabilities = {{"positionEncoding", name_of(state_.encoding)}};
  for (const Method& method : kMethods) capabilities.merge_patch(Json::parse(method.capability));
  return {{"capabilities", capabilities}, {"serverInfo", {{"name", "quern"}, {"version", QUERN_VERSION}}}};
}

void Dispatcher::work_out_costs() {
  for (const ide::CostToCome& cost : std::exchange(state_.costs_to_come, {})) {
    try {
      state_.session.optimised(cost.module, cost.function);
    } catch (const std::exception& error) {
      log_message(state_.transport, fmt::format("the cost of @{} failed: {}", cost.function, error.what()));
    }
  }
}

bool Dispatcher::publish_due(const std::atomic<bool>* stop) {
  bool complete = true;
  state_.documents.each_open([&](Document& document) {
    if (!document.diagnostics_due || !complete) return;
    document.diagnostics_due = false;
    if (state_.client.pulls_diagnostics) return;
    try {
      complete = publish_diagnostics(state_, document, stop);
      document.diagnostics_due = !complete;
    } catch (const std::exception& error) {
      log_message(state_.transport, fmt::format("checking {} failed: {}", document.uri, error.what()));
    }
  });
  return complete;
}

}  // namespace quern::lsp
