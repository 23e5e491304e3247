#pragma once
// A client of the language server for tests. `Json` is nlohmann::json, which only .cpp files include.

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/lsp/server_process.h"

namespace quern::lsp_test {

template <class Json>
class Client {
 public:
  Client() = default;
  /// Of a server that is started with these arguments.
  explicit Client(const std::vector<std::string>& arguments) : process(arguments) {}

  ServerProcess process;

  /// Sends `initialize` with these client capabilities, then `initialized`; the result of the former.
  Json initialize(const Json& capabilities = Json::object()) {
    Json answer =
        call("initialize", {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", capabilities}});
    notify("initialized", Json::object());
    return answer.value("result", Json());
  }

  static Json notification(std::string_view method, const Json& params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
  }
  void notify(std::string_view method, const Json& params) {
    process.write_message(notification(method, params).dump());
  }

  /// The whole answer to a request.
  Json call(std::string_view method, const Json& params = nullptr) { return answer(ask(method, params)); }
  /// Sends a request; its id.
  int ask(std::string_view method, const Json& params = nullptr) {
    Json message = {{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}};
    if (!params.is_null()) message["params"] = params;
    process.write_message(message.dump());
    return last_id_;
  }
  Json answer(const Json& id) {
    return await([&](const Json& m) { return !m.contains("method") && m.value("id", Json()) == id; });
  }

  void open(const std::string& uri, int version, const std::string& text) {
    notify("textDocument/didOpen",
           {{"textDocument", {{"uri", uri}, {"languageId", "quern"}, {"version", version}, {"text", text}}}});
  }
  void change(const std::string& uri, int version, const Json& changes) {
    notify("textDocument/didChange",
           {{"textDocument", {{"uri", uri}, {"version", version}}}, {"contentChanges", changes}});
  }
  void close(const std::string& uri) { notify("textDocument/didClose", {{"textDocument", {{"uri", uri}}}}); }

  /// The params of the first publishDiagnostics for a version of a document that has not been asked for yet.
  Json diagnostics(const std::string& uri, int version) {
    Json message = await([&](const Json& m) {
      return m.value("method", "") == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri &&
             m["params"].value("version", -1) == version;
    });
    return message.is_null() ? message : message["params"];
  }
  Json next(std::string_view method) {
    return await([&](const Json& m) { return m.value("method", "") == method; });
  }

  /// The result of hovering over a position.
  Json hover(const std::string& uri, int line, int character) {
    Json params = {{"textDocument", {{"uri", uri}}},
                   {"position", {{"line", line}, {"character", character}}}};
    return call("textDocument/hover", params).value("result", Json());
  }

 private:
  template <class Wanted>
  Json await(const Wanted& wanted) {
    for (auto it = unread_.begin(); it != unread_.end(); ++it) {
      if (!wanted(*it)) continue;
      Json found = *it;
      unread_.erase(it);
      return found;
    }
    while (std::optional<std::string> text = process.read_message()) {
      Json message = Json::parse(*text);
      if (wanted(message)) return message;
      unread_.push_back(message);
    }
    ADD_FAILURE() << "the server does not answer";
    return nullptr;
  }

  int last_id_ = 0;
  std::deque<Json> unread_;
};

}  // namespace quern::lsp_test
