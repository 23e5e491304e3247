// The protocol, on the real program over pipes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ir/io/data_files.h"
#include "tests/lsp/client.h"
#include "tests/temporary_folder.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kUri = "file:///tmp/model%20one.relay";

json at(int64_t line, int64_t character) { return {{"line", line}, {"character", character}}; }
json range(json start, json end) { return {{"start", std::move(start)}, {"end", std::move(end)}}; }
json edit(json start, json end, const std::string& text) {
  return {{"range", range(std::move(start), std::move(end))}, {"text", text}};
}
// Not {…}: a list of one would be taken for its element.
template <class... Edits>
json edits(const Edits&... all) {
  return json::array({all...});
}
json with_encodings(const json& names) { return {{"general", {{"positionEncodings", names}}}}; }

TEST(Server, DeclaresWhatItCanDo) {
  Client<json> client;
  json result = client.initialize();
  EXPECT_EQ(result["serverInfo"]["name"], "quern");
  EXPECT_EQ(result["capabilities"]["positionEncoding"], "utf-16");
  EXPECT_EQ(result["capabilities"]["textDocumentSync"], json({{"openClose", true}, {"change", 2}}));
  EXPECT_EQ(result["capabilities"]["hoverProvider"], true);
}

TEST(Server, TakesTheFirstEncodingThatItKnows) {
  auto negotiated = [](const json& offered) {
    return Client<json>().initialize(with_encodings(offered))["capabilities"]["positionEncoding"];
  };
  EXPECT_EQ(negotiated({"utf-7", "utf-32", "utf-8"}), "utf-32");
  EXPECT_EQ(negotiated({"utf-8", "utf-16"}), "utf-8");
  EXPECT_EQ(negotiated({"utf-7"}), "utf-16");
  EXPECT_EQ(negotiated(nullptr), "utf-16");
}

TEST(Server, PublishesVersionedDiagnosticsAndTakesThemBack) {
  Client<json> client;
  client.initialize();
  client.open(kUri, 4, "let %x = ones(shape=[2, 3]);\nlet %y = %x + %z;\n");
  json published = client.diagnostics(kUri, 4);
  ASSERT_EQ(published["diagnostics"].size(), 1u) << published;
  json diagnostic = published["diagnostics"][0];
  EXPECT_EQ(diagnostic["code"], "Q0201");
  EXPECT_EQ(diagnostic["severity"], 1);
  EXPECT_EQ(diagnostic["source"], "quern");
  EXPECT_EQ(diagnostic["range"], range(at(1, 14), at(1, 16)));
  EXPECT_THAT(diagnostic["message"].get<std::string>(), HasSubstr("%z"));

  client.change(kUri, 5, edits(edit(at(1, 15), at(1, 16), "x")));
  EXPECT_EQ(client.diagnostics(kUri, 5)["diagnostics"], json::array());
  // In order: the second change counts in the text that the first one made.
  client.change(kUri, 6, edits(edit(at(0, 0), at(0, 0), "\n\n"), edit(at(3, 14), at(3, 16), "%q")));
  EXPECT_EQ(client.diagnostics(kUri, 6)["diagnostics"][0]["range"], range(at(3, 14), at(3, 16)));
  client.change(kUri, 7, edits(json{{"text", "%all"}}));
  EXPECT_EQ(client.diagnostics(kUri, 7)["diagnostics"][0]["range"], range(at(0, 0), at(0, 4)));
  client.close(kUri);
  EXPECT_EQ(client.diagnostics(kUri, 7)["diagnostics"], json::array());
}

TEST(Server, NotesBecomeRelatedInformationWhereTheClientShowsIt) {
  const std::string text = "let %x = ones(shape=[2, 3]);\nlet %w = ones(shape=[4, 5]);\nnn.dense(%x, %w)";
  Client<json> with, without;
  with.initialize({{"textDocument", {{"publishDiagnostics", {{"relatedInformation", true}}}}}});
  without.initialize();
  with.open(kUri, 1, text);
  without.open(kUri, 1, text);
  json diagnostic = with.diagnostics(kUri, 1)["diagnostics"][0];
  EXPECT_EQ(diagnostic["code"], "Q0302");
  ASSERT_EQ(diagnostic["relatedInformation"].size(), 2u) << diagnostic;
  json note = diagnostic["relatedInformation"][1];
  EXPECT_EQ(note["location"]["uri"], kUri);
  EXPECT_EQ(note["location"]["range"]["start"], at(1, 9));
  EXPECT_THAT(note["message"].get<std::string>(), HasSubstr("Tensor[(4, 5), float32]"));
  diagnostic = without.diagnostics(kUri, 1)["diagnostics"][0];
  EXPECT_FALSE(diagnostic.contains("relatedInformation"));
  EXPECT_THAT(diagnostic["message"].get<std::string>(), HasSubstr("/tmp/model one.relay:2:1"));
}

TEST(Server, CapsDiagnosticsAndCountsTheRest) {
  Client<json> client;
  client.initialize();
  std::string text;
  for (int i = 0; i < 250; ++i) text += "%nothing;\n";
  client.open(kUri, 1, text);
  json list = client.diagnostics(kUri, 1)["diagnostics"];
  ASSERT_EQ(list.size(), 201u);
  EXPECT_THAT(list[200]["message"].get<std::string>(), HasSubstr("50 more"));
}

TEST(Server, HighlightsWhatANameStandsFor) {
  Client<json> client;
  client.initialize();
  client.open(kUri, 1, "let %x = 1;\n%x + %x");
  auto highlights = [&](int line, int character) {
    return client.call("textDocument/documentHighlight",
                       {{"textDocument", {{"uri", kUri}}}, {"position", at(line, character)}})["result"];
  };
  auto place = [&](int line, int begin, int kind) -> json {
    return {{"range", {{"start", at(line, begin)}, {"end", at(line, begin + 1)}}}, {"kind", kind}};
  };
  EXPECT_EQ(highlights(1, 6), json({place(0, 5, 3), place(1, 1, 2), place(1, 6, 2)}));
  EXPECT_EQ(highlights(0, 0), json::array());
}

TEST(Server, DocumentsAreModulesOfTheirOwn) {
  Client<json> client;
  client.initialize();
  const std::string other = "untitled:Untitled-1";
  client.open(kUri, 1, "let %x = 1;\ndef @f(%a: int32) { %a }");
  client.open(other, 1, "def @f(%a: int32) { %a }\n%x");
  EXPECT_EQ(client.diagnostics(kUri, 1)["diagnostics"], json::array());
  EXPECT_EQ(client.diagnostics(other, 1)["diagnostics"].size(), 1u);
  client.close(kUri);
  EXPECT_EQ(client.hover(kUri, 0, 4), json());
  client.open(kUri, 1, "%y");
  EXPECT_EQ(client.diagnostics(kUri, 1)["diagnostics"], json::array());  // of the close
  EXPECT_EQ(client.diagnostics(kUri, 1)["diagnostics"].size(), 1u);
}

// What a document imports is the open document of that file, else what is on the disk.
TEST(Server, DiagnosticsFollowImportedFiles) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::path base = folder / "base.relay";
  auto write = [&](const std::string& text) { std::ofstream(base) << text; };
  write("def @one() -> int32 { 1 }\n");
  const std::string uri = "file://" + (folder / "main.relay").string(), base_uri = "file://" + base.string();
  Client<json> client;
  client.initialize({{"workspace", {{"didChangeWatchedFiles", {{"dynamicRegistration", true}}}}}});
  json registered = client.next("client/registerCapability");
  EXPECT_EQ(registered["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
  client.process.write_message(
      json({{"jsonrpc", "2.0"}, {"id", registered["id"]}, {"result", nullptr}}).dump());

  client.open(uri, 1, "import \"base.relay\" as base\n@base.one()");
  EXPECT_EQ(client.diagnostics(uri, 1)["diagnostics"], json::array());
  // In the editor, not on the disk.
  client.open(base_uri, 1, "def @two() -> int32 { 2 }\n");
  json unknown = client.diagnostics(uri, 1)["diagnostics"];
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_THAT(unknown[0]["message"].get<std::string>(), HasSubstr("base.one"));
  client.change(base_uri, 2, edits(edit(at(0, 5), at(0, 8), "one")));
  EXPECT_EQ(client.diagnostics(uri, 1)["diagnostics"], json::array());
  write("def @three() -> int32 { 3 }\n");
  client.close(base_uri);
  EXPECT_EQ(client.diagnostics(uri, 1)["diagnostics"].size(), 1u);
  write("def @one() -> int32 { 1 }\n");
  client.notify("workspace/didChangeWatchedFiles",
                {{"changes", json::array({{{"uri", base_uri}, {"type", 2}}})}});
  EXPECT_EQ(client.diagnostics(uri, 1)["diagnostics"], json::array());
  fs::remove(base);
  client.notify("workspace/didChangeWatchedFiles",
                {{"changes", json::array({{{"uri", base_uri}, {"type", 3}}})}});
  json gone = client.diagnostics(uri, 1)["diagnostics"];
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0]["code"], "Q0601");
}

TEST(Server, AsksForSettingsWhereTheyChange) {
  Client<json> client;
  client.initialize(
      {{"workspace",
        {{"configuration", true}, {"didChangeConfiguration", {{"dynamicRegistration", true}}}}}});
  const json registered = client.next("client/registerCapability")["params"]["registrations"];
  EXPECT_EQ(registered[0]["method"], "workspace/didChangeConfiguration");
  // A wrong one shows that it was read.
  const auto warning_of = [&](const json& evaluation) {
    const json asked = client.next("workspace/configuration");
    EXPECT_EQ(asked["params"]["items"], json::array({{{"section", "quern"}}}));
    const json result = json::array({{{"evaluation", evaluation}}});
    client.process.write_message(json({{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", result}}).dump());
    return client.next("window/showMessage")["params"]["message"].get<std::string>();
  };
  EXPECT_THAT(warning_of({{"seconds", "many"}}), HasSubstr("quern.evaluation.seconds"));
  client.notify("workspace/didChangeConfiguration", {{"settings", nullptr}});
  EXPECT_THAT(warning_of({{"memoryMiB", 0}}), HasSubstr("quern.evaluation.memoryMiB"));
}

// The type of what `load` gives is in the file's header.
TEST(Server, DiagnosticsFollowDataFiles) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  auto write = [&](const Shape& shape) {
    ASSERT_TRUE(
        write_tensors((folder / "x.npy").string(), {{"", HostTensor::zeros(DType::float32(), shape)}}));
  };
  write({2, 3});
  const std::string uri = "file://" + (folder / "main.relay").string(),
                    data_uri = "file://" + (folder / "x.npy").string();
  Client<json> client;
  client.initialize({{"workspace", {{"didChangeWatchedFiles", {{"dynamicRegistration", true}}}}}});
  json watchers = client.next("client/registerCapability")["params"]["registrations"][0]["registerOptions"];
  EXPECT_THAT(watchers.dump(), HasSubstr("npy,npz,safetensors"));
  client.open(uri, 1, "let %x = load(\"x.npy\"); %x + ones((2, 3))");
  EXPECT_EQ(client.diagnostics(uri, 1)["diagnostics"], json::array());
  write({3, 2});  // a file of the same size
  client.notify("workspace/didChangeWatchedFiles",
                {{"changes", json::array({{{"uri", data_uri}, {"type", 2}}})}});
  json changed = client.diagnostics(uri, 1)["diagnostics"];
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0]["code"], "Q0302");
}

TEST(Server, CountsInTheNegotiatedEncoding) {
  // Before %z: 1 emoji (4 bytes, 2 UTF-16 units) and 2 CJK characters (3 bytes each, 1 unit each).
  const std::string text = "/* 🙂漢字 */ %z";
  auto start = [&](const json& capabilities) {
    Client<json> client;
    client.initialize(capabilities);
    client.open(kUri, 1, text);
    json list = client.diagnostics(kUri, 1)["diagnostics"];
    // What comes out goes in again: the edit replaces exactly the name.
    json edited = {{"range", list[0]["range"]}, {"text", "1"}};
    client.change(kUri, 2, edits(edited));
    EXPECT_EQ(client.diagnostics(kUri, 2)["diagnostics"], json::array());
    return list[0]["range"]["start"]["character"].get<int>();
  };
  EXPECT_EQ(start(json::object()), 11);
  EXPECT_EQ(start(with_encodings({"utf-8"})), 17);
  EXPECT_EQ(start(with_encodings({"utf-32"})), 10);
}

TEST(Server, CountsLinesOfEveryEnding) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    Client<json> client;
    client.initialize();
    client.open(kUri, 1, fmt::format("let %a = 1;{0}{0}%b;{0}%c", end));
    json list = client.diagnostics(kUri, 1)["diagnostics"];
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0]["range"], range(at(2, 0), at(2, 2)));
    EXPECT_EQ(list[1]["range"], range(at(3, 0), at(3, 2)));
    // Past the end of a line is its end, before the line break.
    client.change(kUri, 2, edits(edit(at(2, 1), at(2, 99), "a;"), edit(at(3, 0), at(3, 1 << 30), "%a")));
    EXPECT_EQ(client.diagnostics(kUri, 2)["diagnostics"], json::array());
  }
}

TEST(Server, ClampsPositions) {
  Client<json> client;
  client.initialize();
  client.open(kUri, 1, "%z");
  client.change(kUri, 2, edits(edit(at(-3, -1), at(4000000000, 7), "1")));
  EXPECT_EQ(client.diagnostics(kUri, 2)["diagnostics"], json::array());
  EXPECT_EQ(client.hover(kUri, 70, 3)["contents"]["value"], client.hover(kUri, 0, 0)["contents"]["value"]);
}

TEST(Server, ASurrogatePairIsNotSplit) {
  Client<json> client;
  client.initialize();
  client.open(kUri, 1, "/*🙂*/%z");
  client.change(kUri, 2, edits(edit(at(0, 3), at(0, 3), "x")));  // goes before the emoji
  EXPECT_EQ(client.diagnostics(kUri, 2)["diagnostics"][0]["range"], range(at(0, 7), at(0, 9)));
}

TEST(Server, AsksToReopenAfterAnEditThatMakesNoSense) {
  for (const json& wrong :
       {edits(edit(at(1, 0), at(0, 0), "")), edits(json{{"range", 7}, {"text", ""}}), json("all")}) {
    Client<json> client;
    client.initialize();
    client.open(kUri, 1, "%z;\n%z");
    EXPECT_EQ(client.diagnostics(kUri, 1)["diagnostics"].size(), 2u);
    client.change(kUri, 2, wrong);
    EXPECT_THAT(client.next("window/showMessage")["params"]["message"].get<std::string>(),
                HasSubstr("reopen"));
    EXPECT_EQ(client.diagnostics(kUri, 2)["diagnostics"], json::array());
    client.change(kUri, 3, edits(edit(at(0, 0), at(0, 0), " ")));
    EXPECT_EQ(client.hover(kUri, 0, 0), json());
    client.change(kUri, 4, edits(json{{"text", "%z"}}));
    EXPECT_EQ(client.diagnostics(kUri, 4)["diagnostics"].size(), 1u);
  }
}

TEST(Server, ABurstOfEditsEndsWithTheLastVersion) {
  Client<json> client;
  client.initialize();
  client.open(kUri, 1, "");
  std::string burst;
  for (int version = 2; version <= 100; ++version) {
    json params = {{"textDocument", {{"uri", kUri}, {"version", version}}},
                   {"contentChanges", edits(edit(at(0, 0), at(0, 0), version % 2 ? " " : "%z;"))}};
    burst += ServerProcess::framed(Client<json>::notification("textDocument/didChange", params).dump());
  }
  client.process.write(burst);
  EXPECT_EQ(client.diagnostics(kUri, 100)["diagnostics"].size(), 50u);
}

TEST(Server, AnswersEveryWrongMessageAndGoesOn) {
  Client<json> client;
  client.initialize();
  auto code_after = [&](const std::string& text, const json& id) {
    client.process.write_message(text);
    return client.answer(id)["error"]["code"];
  };
  EXPECT_EQ(code_after("{\"jsonrpc\": \"2.0\", \"id\": 1, ", nullptr), -32700);
  EXPECT_EQ(code_after("", nullptr), -32700);
  EXPECT_EQ(code_after("\"\xff\"", nullptr), -32700);
  EXPECT_EQ(code_after(std::string(200000, '['), nullptr), -32700);
  EXPECT_EQ(code_after("[1, 2]", nullptr), -32600);
  EXPECT_EQ(code_after("{\"id\": 5, \"method\": 7}", nullptr), -32600);
  EXPECT_EQ(code_after("{\"id\": \"s\", \"method\": \"textDocument/nothing\"}", "s"), -32601);
  EXPECT_EQ(code_after("{\"id\": 70, \"method\": \"textDocument/hover\"}", 70), -32602);
  EXPECT_EQ(code_after("{\"id\": 71, \"method\": \"initialize\", \"params\": {}}", 71), -32600);
  EXPECT_EQ(code_after("{\"id\": 72, \"method\": \"textDocument/didOpen\"}", 72), -32600);
  // Nothing comes back for these.
  client.notify("$/cancelRequest", {{"id", 1}});
  client.notify("$/setTrace", {{"value", "verbose"}});
  client.notify("workspace/unknown", nullptr);
  client.process.write_message("{\"id\": 99, \"result\": null}");
  client.change("file:///never/opened.relay", 2, edits(json{{"text", "x"}}));
  client.open(kUri, 1, "%z");
  EXPECT_EQ(client.diagnostics(kUri, 1)["diagnostics"].size(), 1u);
}

TEST(Server, FindsTheNextMessageAfterABrokenHeader) {
  Client<json> client;
  client.initialize();
  auto request = [](int id) {
    return json({{"jsonrpc", "2.0"}, {"id", id}, {"method", "textDocument/none"}}).dump();
  };
  auto answered = [&](int id) { return client.answer(id)["error"]["code"] == -32601; };
  int id = 100;
  for (const char* broken :
       {"Content-Length: many\r\n\r\n", "Content-Length: -5\r\n\r\n", "Content-Type: text\r\n\r\n",
        "{\"no\": \"header\"}", "\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n"}) {
    client.process.write(broken + ServerProcess::framed(request(++id)));
    EXPECT_TRUE(answered(id)) << broken;
  }
  client.process.write(std::string(100000, 'x') + ServerProcess::framed(request(++id)));
  EXPECT_TRUE(answered(id));
  // Other headers, small letters, bare line feeds, a message in pieces.
  std::string text = request(++id);
  client.process.write("content-type: application/vscode-jsonrpc; charset=utf-8\ncontent-length:  " +
                       std::to_string(text.size()) + " \n\n" + text.substr(0, 9));
  client.process.write(text.substr(9));
  EXPECT_TRUE(answered(id));
}

TEST(Server, TellsWhatItKeepsInMemory) {
  Client<json> client;
  client.initialize();
  const auto trees = [&]() -> int64_t {
    const json answer = client.call("quern/memory");
    for (const json& row : answer["result"])
      if (row["kind"] == "syntax trees") return row["bytes"];
    return 0;
  };
  client.open(kUri, 1, "let %x = 1;\n");
  client.diagnostics(kUri, 1);
  const int64_t of_one = trees();
  std::string text;
  for (int i = 0; i < 100; ++i) text += "let %x = 1;\n";
  client.change(kUri, 2, edits(json({{"text", text}})));
  client.diagnostics(kUri, 2);
  EXPECT_GT(trees(), of_one + 100 * 100);
}

TEST(Server, HoldsToItsLifeCycle) {
  Client<json> client;
  EXPECT_EQ(client.call("textDocument/hover", json::object())["error"]["code"], -32002);
  client.open(kUri, 1, "%z");  // ignored
  client.initialize();
  EXPECT_EQ(client.hover(kUri, 0, 0), json());
  json answer = client.call("shutdown");
  EXPECT_TRUE(answer.contains("result") && answer["result"].is_null());
  EXPECT_EQ(client.call("textDocument/hover", json::object())["error"]["code"], -32600);
  client.notify("exit", nullptr);
  EXPECT_EQ(client.process.exit_code(), 0);
}

TEST(Server, ExitsWithOneWithoutShutdown) {
  Client<json> client;
  client.initialize();
  client.notify("exit", nullptr);
  EXPECT_EQ(client.process.exit_code(), 1);
}

class ServerOfAProcess : public testing::Test {
 protected:
  ServerOfAProcess() : editor({"/bin/sh", "-c", "read line"}, piped()) {
    client.call("initialize",
                {{"processId", editor.id()}, {"rootUri", nullptr}, {"capabilities", json::object()}});
  }
  static lsp::SpawnOptions piped() {
    lsp::SpawnOptions options;
    options.input = lsp::SpawnOptions::Stream::Piped;
    return options;
  }

  ChildProcess editor;  ///< ends with its input
  Client<json> client;
};

// Something else may have its input too.
TEST_F(ServerOfAProcess, EndsWithIt) {
  EXPECT_EQ(client.call("no/method")["error"]["code"], -32601);
  editor.close_input();
  EXPECT_EQ(client.process.exit_code(), 1);
}

// Something else may have its output too, and not read it.
TEST_F(ServerOfAProcess, EndsWithItWhileNobodyReads) {
  for (int i = 0; i < 2000; ++i) client.ask("no/method");
  editor.close_input();
  EXPECT_EQ(client.process.exit_code(), 1);
}

TEST(Server, AClientThatIsInNoProcessHereIsServed) {
  Client<json> client;
  client.call("initialize",
              {{"processId", 1'000'000'000}, {"rootUri", nullptr}, {"capabilities", json::object()}});
  EXPECT_EQ(client.call("shutdown")["result"], json());
}

TEST(Server, EndsWithItsInput) {
  Client<json> before, after, inside;
  before.initialize();
  before.process.close_input();
  EXPECT_EQ(before.process.exit_code(), 1);
  after.initialize();
  after.call("shutdown");
  after.process.close_input();
  EXPECT_EQ(after.process.exit_code(), 0);
  inside.process.write("Content-Length: 50\r\n\r\n{");
  inside.process.close_input();
  EXPECT_EQ(inside.process.exit_code(), 1);
}

}  // namespace
}  // namespace quern::lsp_test
