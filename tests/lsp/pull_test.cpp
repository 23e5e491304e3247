// Diagnostics for clients that ask, and requests that are cancelled.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/lsp/client.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

const std::string kPulledUri = "untitled:pulled";

TEST(LspPull, DiagnosticsUnderANameForThem) {
  Client<json> client;
  client.initialize({{"textDocument", {{"diagnostic", json::object()}}}});
  client.open(kPulledUri, 1, "%nothing");
  auto pull = [&](const json& previous) {
    json params = {{"textDocument", {{"uri", kPulledUri}}}};
    if (!previous.is_null()) params["previousResultId"] = previous;
    return client.call("textDocument/diagnostic", params)["result"];
  };
  const json first = pull(nullptr);
  EXPECT_EQ(first["kind"], "full");
  ASSERT_EQ(first["items"].size(), 1u);
  EXPECT_EQ(first["items"][0]["code"], "Q0201");
  EXPECT_EQ(pull(first["resultId"]), json({{"kind", "unchanged"}, {"resultId", first["resultId"]}}));
  client.change(kPulledUri, 2, json::array({json{{"text", "let %x = 1;"}}}));
  const json second = pull(first["resultId"]);
  EXPECT_EQ(second["items"], json::array());
  EXPECT_NE(second["resultId"], first["resultId"]);
  // None were sent beside.
  client.close(kPulledUri);
  client.call("shutdown");
  client.notify("exit", nullptr);
  while (const auto message = client.process.read_message())
    EXPECT_NE(json::parse(*message).value("method", ""), "textDocument/publishDiagnostics");
}

TEST(LspPull, CancelledRequestsAreAnsweredAsSuch) {
  Client<json> client;
  client.initialize();
  // In one write, so that all are there when the first one is handled.
  std::string all;
  constexpr int kFirst = 1000, kCount = 20;
  auto add = [&](const json& message) { all += ServerProcess::framed(message.dump()); };
  std::string text = "let %x = ones((2, 3));\n";
  for (int i = 0; i < 3000; ++i) text += "nn.relu(%x);\n";
  add({{"jsonrpc", "2.0"},
       {"method", "textDocument/didOpen"},
       {"params",
        {{"textDocument", {{"uri", kPulledUri}, {"languageId", "quern"}, {"version", 1}, {"text", text}}}}}});
  for (int i = 0; i < kCount; ++i)
    add({{"jsonrpc", "2.0"},
         {"id", kFirst + i},
         {"method", "textDocument/diagnostic"},
         {"params", {{"textDocument", {{"uri", kPulledUri}}}}}});
  add({{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", kFirst + kCount - 1}}}});
  add({{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", "of nothing"}}}});
  client.process.write(all);
  EXPECT_EQ(client.answer(kFirst + kCount - 1)["error"]["code"], -32800);
  // What is not cancelled is answered, or was given up and may be asked for again.
  const json other = client.answer(kFirst + 1);
  EXPECT_TRUE(other.contains("result") || other["error"]["code"] == -32802) << other;
}

}  // namespace
}  // namespace quern::lsp_test
