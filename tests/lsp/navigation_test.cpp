// Navigation over the protocol: places in other files and in the library, encodings, what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lsp/positions.h"
#include "tests/lsp/client.h"
#include "tests/temporary_folder.h"

namespace quern::lsp_test {
namespace {

using lsp::PositionEncoding;
using lsp::Positions;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A client with `main.relay` open in a folder with `net.relay`, which `other.relay` imports too.
class NavigationServer : public ::testing::Test {
 protected:
  void start(const std::string& text, const json& capabilities = json::object()) {
    write("net.relay", "type Net { Net(w: float32) }\ndef @f(%x: float32) { %x }\n");
    write("other.relay", "import \"net.relay\" as n\n@n.f(1f)\n");
    client.call("initialize", {{"processId", nullptr},
                               {"workspaceFolders", json::array({{{"uri", uri("")}, {"name", "x"}}})},
                               {"capabilities", capabilities}});
    client.notify("initialized", json::object());
    text_ = text;
    client.open(uri("main.relay"), 3, text);
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }
  std::string uri(const std::string& name) const {
    return "file://" + (std::filesystem::canonical(folder.path()) / name).string();
  }

  /// The params of a request at the first place of a part of the text.
  json at(const std::string& part, size_t by = 0, PositionEncoding encoding = PositionEncoding::Utf16) const {
    const lsp::Position p = Positions(text_, encoding).position(static_cast<uint32_t>(text_.find(part) + by));
    return {{"textDocument", {{"uri", uri("main.relay")}}},
            {"position", {{"line", p.line}, {"character", p.character}}}};
  }
  json ask(const std::string& method, json params, const json& more = json::object()) {
    params.update(more);
    const json answer = client.call(method, params);
    return answer.contains("error") ? answer["error"] : answer["result"];
  }
  static json range(int line, int begin, int end) {
    return {{"start", {{"line", line}, {"character", begin}}}, {"end", {{"line", line}, {"character", end}}}};
  }

  TemporaryFolder folder;
  Client<json> client;
  std::string text_;
};

const std::string kMain =
    "import \"net.relay\" as net\r\nlet %n = net.Net(1f);\r\n@net.f(%n.w) + nn.relu(2f)\r\n";

TEST_F(NavigationServer, ShowsWhatTheTextBecomes) {
  start("def @g(%x: float32) { %x * 2f }\n@g(3f)\ndef @row(%x: Tensor[(40,), float32]) { %x * 2f }\n");
  auto of = [&](json params) {
    params["uri"] = uri("main.relay");
    return ask("quern/ir", params);
  };
  EXPECT_THAT(of({{"function", "@g"}})["text"], HasSubstr("def @g(%x: float32) -> float32"));
  EXPECT_THAT(of({{"stage", "ast"}})["text"], HasSubstr("Def"));
  EXPECT_THAT(of({{"stage", "loops"}, {"function", "g"}})["text"], HasSubstr("kernel"));
  const json loops =
      ask("quern/virtualDocument", {{"uri", "quern:/ir/loops/row.relay?" + uri("main.relay")}});
  EXPECT_THAT(
      loops["text"],
      AnyOf(HasSubstr("for i0 in 0..40 vectorize 16 {  // 40 steps in 3 vectors, 40 FLOP, 320 bytes"),
            HasSubstr("for i0 in 0..40 vectorize 8 {  // 40 steps in 5 vectors, 40 FLOP, 320 bytes")));
  EXPECT_THAT(of({{"stage", "lops"}})["message"], HasSubstr("there is no stage `lops`"));
  EXPECT_THAT(of({{"function", "@h"}})["message"], HasSubstr("there is no definition `@h`"));
  client.change(uri("main.relay"), 4, json::array({{{"text", "def @g(%x: float32) { %y }\n"}}}));
  EXPECT_THAT(of({})["message"], HasSubstr("the text has errors, the first: unknown variable `%y`"));
  EXPECT_THAT(ask("quern/ir", {{"uri", "file:///none.relay"}})["message"], HasSubstr("is not open"));
}

TEST_F(NavigationServer, ListsTheStagesThatThereAre) {
  start("let %a = 1;\n");
  const json stages = ask("quern/stages", json::object());
  std::map<std::string, std::string> does;
  for (const json& row : stages) {
    const std::string stage = row["stage"];
    does[stage] = row["does"];
    const json shown = ask("quern/ir", {{"uri", uri("main.relay")}, {"stage", stage}});
    EXPECT_TRUE(shown.contains("text")) << stage << shown;
  }
  EXPECT_EQ(stages.front()["stage"], "ast");
  EXPECT_EQ(stages.back()["stage"], "asm");
  EXPECT_EQ(does.at("typed"), "");
  EXPECT_NE(does.at("fuse"), "");
}

TEST_F(NavigationServer, DefinitionsInFilesAndInTheLibrary) {
  start(kMain);
  EXPECT_EQ(ask("textDocument/definition", at("f(%n")),
            json::array({{{"uri", uri("net.relay")}, {"range", range(1, 5, 6)}}}));
  EXPECT_EQ(ask("textDocument/declaration", at("f(%n")), ask("textDocument/definition", at("f(%n")));
  EXPECT_EQ(ask("textDocument/typeDefinition", at("%n =")),
            json::array({{{"uri", uri("net.relay")}, {"range", range(0, 5, 8)}}}));
  const json relu = ask("textDocument/definition", at("relu"))[0];
  ASSERT_EQ(relu["uri"], "quern:/library/nn.relay");
  const json library = ask("quern/virtualDocument", {{"uri", relu["uri"]}});
  const Positions positions(library["text"].get_ref<const std::string&>(), PositionEncoding::Utf16);
  const auto& start = relu["range"]["start"];
  const uint32_t offset = positions.offset({start["line"], start["character"]});
  EXPECT_EQ(library["text"].get<std::string>().substr(offset, 8), "nn.relu(");
  EXPECT_EQ(ask("quern/virtualDocument", {{"uri", "quern:/library/none.relay"}})["code"], -32803);
  EXPECT_EQ(ask("quern/virtualDocument", {{"uri", uri("net.relay")}})["code"], -32803);
}

TEST_F(NavigationServer, DefinitionsInModulesOfTheLibrary) {
  start(
      "import \"quern:models/layers.relay\" as layers\n"
      "def @f(%w: layers.Linear[2, 3], %x: Tensor[(4, 2), float32]) { @layers.linear(%w, %x) }\n");
  const json found = ask("textDocument/definition", at("linear(%w, %x) }"))[0];
  ASSERT_EQ(found["uri"], "quern:/library/models/layers.relay");
  const auto text = ask("quern/virtualDocument", {{"uri", found["uri"]}})["text"].get<std::string>();
  const auto& begin = found["range"]["start"];
  const uint32_t offset =
      Positions(text, PositionEncoding::Utf16).offset({begin["line"], begin["character"]});
  EXPECT_EQ(text.substr(offset, 7), "linear[");
  json params = at("linear(%w, %x) }");
  params["newName"] = "affine";
  EXPECT_EQ(ask("textDocument/rename", params)["message"],
            "`linear` is declared by the library, which cannot be changed");
  const json links = ask("textDocument/documentLink", {{"textDocument", params["textDocument"]}});
  ASSERT_EQ(links.size(), 1);
  EXPECT_EQ(links[0]["target"], found["uri"]);
}

// A library's document that a client opens has answers and cannot be changed.
TEST_F(NavigationServer, LibraryDocumentsAreReadOnly) {
  start(kMain);
  const std::string nn = "quern:/library/nn.relay";
  const auto text = ask("quern/virtualDocument", {{"uri", nn}})["text"].get<std::string>();
  client.open(nn, 1, text);
  const size_t body = text.find("[..i] => ");
  const lsp::Position p = Positions(text, PositionEncoding::Utf16).position(static_cast<uint32_t>(body) + 3);
  const json params = {{"textDocument", {{"uri", nn}}},
                       {"position", {{"line", p.line}, {"character", p.character}}}};
  const json found = ask("textDocument/definition", params);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["range"]["start"], params["position"]);
  EXPECT_THAT(ask("textDocument/rename", params, {{"newName", "k"}})["message"].get<std::string>(),
              HasSubstr("the library"));
  client.change(nn, 2, json::array({{{"text", "let %x = 1;"}}}));
  EXPECT_THAT(client.next("window/showMessage")["params"]["message"].get<std::string>(),
              HasSubstr("read only"));
  EXPECT_EQ(ask("quern/virtualDocument", {{"uri", nn}})["text"], text);
}

TEST_F(NavigationServer, LinksForClientsThatTakeThem) {
  start(kMain, {{"textDocument", {{"definition", {{"linkSupport", true}}}}}});
  const json link = ask("textDocument/definition", at("f(%n"))[0];
  EXPECT_EQ(link["originSelectionRange"], range(2, 5, 6));
  EXPECT_EQ(link["targetSelectionRange"], range(1, 5, 6));
  EXPECT_EQ(link["targetRange"], range(1, 0, 26));
}

TEST_F(NavigationServer, PositionsInEveryEncoding) {
  for (auto encoding : {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32}) {
    Client<json> other;
    other.initialize({{"general", {{"positionEncodings", {name_of(encoding)}}}}});
    text_ = "let %x = 1; /* 漢字😀 */ let %y = %x;\n";
    write("main.relay", text_);
    other.open(uri("main.relay"), 1, text_);
    const json found = other.call("textDocument/references", [&] {
      json params = at("%x;", 1, encoding);
      params["context"] = {{"includeDeclaration", true}};
      return params;
    }())["result"];
    ASSERT_EQ(found.size(), 2u);
    const lsp::Position p = Positions(text_, encoding).position(static_cast<uint32_t>(text_.find("%x;") + 1));
    EXPECT_EQ(found[1]["range"], range(0, static_cast<int>(p.character), static_cast<int>(p.character) + 1));
  }
}

// Also in a file of the workspace that is not open.
TEST_F(NavigationServer, ReferencesAcrossTheWorkspace) {
  start(kMain);
  auto uris = [&](bool with_declaration) {
    std::vector<std::string> all;
    const json context = {{"context", {{"includeDeclaration", with_declaration}}}};
    for (const json& place : ask("textDocument/references", at("f(%n"), context)) all.push_back(place["uri"]);
    return all;
  };
  EXPECT_THAT(uris(true),
              testing::UnorderedElementsAre(uri("main.relay"), uri("net.relay"), uri("other.relay")));
  EXPECT_THAT(uris(false), testing::UnorderedElementsAre(uri("main.relay"), uri("other.relay")));
  // A client that does not watch files is not told of changes: the disk is looked at.
  write("other.relay", "import \"net.relay\" as n\n1\n");
  EXPECT_THAT(uris(false), testing::ElementsAre(uri("main.relay")));
}

TEST_F(NavigationServer, RenamesAcrossTheWorkspace) {
  start(kMain, {{"workspace", {{"workspaceEdit", {{"documentChanges", true}}}}}});
  EXPECT_EQ(ask("textDocument/prepareRename", at("f(%n")),
            json({{"range", range(2, 5, 6)}, {"placeholder", "f"}}));
  EXPECT_EQ(ask("textDocument/prepareRename", at("import")), json());
  const json edits = ask("textDocument/rename", at("f(%n"), {{"newName", "@g"}})["documentChanges"];
  ASSERT_EQ(edits.size(), 3u) << edits;
  for (const json& edit : edits) {
    EXPECT_EQ(edit["edits"][0]["newText"], "g");
    const bool is_open = edit["textDocument"]["uri"] == uri("main.relay");
    EXPECT_EQ(edit["textDocument"]["version"], is_open ? json(3) : json());
  }
  const json refused = ask("textDocument/rename", at("relu"), {{"newName", "g"}});
  EXPECT_EQ(refused["code"], -32803);
  EXPECT_EQ(refused["message"], "`nn.relu` is declared by the library, which cannot be changed");
}

TEST_F(NavigationServer, SymbolsOfDocumentsAndOfTheWorkspace) {
  start(kMain);
  const json outline = ask("textDocument/documentSymbol", at("import"));
  ASSERT_EQ(outline.size(), 2u);
  EXPECT_EQ(outline[1]["name"], "%n");
  EXPECT_EQ(outline[1]["selectionRange"], range(1, 4, 6));
  const json found = ask("workspace/symbol", {{"query", "f"}});
  EXPECT_EQ(found[0]["name"], "@f");
  EXPECT_EQ(found[0]["location"], json({{"uri", uri("net.relay")}, {"range", range(1, 4, 6)}}));
  EXPECT_EQ(ask("workspace/symbol", {{"query", "nn.conv2d"}})[0]["location"]["uri"],
            "quern:/library/nn.relay");
}

TEST_F(NavigationServer, FoldsSelectionsAndLinks) {
  start("import \"net.relay\"\nlet %x = (\n  1\n);\n",
        {{"textDocument", {{"foldingRange", {{"lineFoldingOnly", true}}}}}});
  EXPECT_EQ(ask("textDocument/foldingRange", at("import")),
            json::array({{{"startLine", 1}, {"endLine", 2}}}));
  EXPECT_EQ(ask("textDocument/documentLink", at("import")),
            json::array({{{"range", range(0, 8, 17)}, {"target", uri("net.relay")}}}));
  json params = at("import");
  params["positions"] = json::array({at("1")["position"], {{"line", 900}, {"character", 0}}});
  const json selections = ask("textDocument/selectionRange", params);
  ASSERT_EQ(selections.size(), 2u);
  EXPECT_EQ(selections[0]["range"], range(2, 2, 3));
  EXPECT_FALSE(selections[0]["parent"].is_null());
}

TEST_F(NavigationServer, CallsThereAndBack) {
  start(kMain);
  const json items = ask("textDocument/prepareCallHierarchy", at("f(%n"));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0]["uri"], uri("net.relay"));
  const json callers = ask("callHierarchy/incomingCalls", {{"item", items[0]}});
  ASSERT_EQ(callers.size(), 2u);
  for (const json& caller : callers) {
    EXPECT_EQ(caller["fromRanges"].size(), 1u);
    const json called = ask("callHierarchy/outgoingCalls", {{"item", caller["from"]}});
    EXPECT_EQ(called[0]["to"]["name"], "@f");
  }
}

TEST_F(NavigationServer, QuestionsThatMakeNoSense) {
  start(kMain);
  json nowhere = at("f(%n"), outside = at("f(%n");
  nowhere["textDocument"]["uri"] = "untitled:gone";
  outside["position"] = {{"line", 100000}, {"character", 100000}};
  const json context = {
      {"context", {{"includeDeclaration", true}}}, {"newName", "x"}, {"positions", json::array()}};
  for (const json& params : {nowhere, outside})
    for (const char* method :
         {"textDocument/definition", "textDocument/typeDefinition", "textDocument/references",
          "textDocument/prepareRename", "textDocument/prepareCallHierarchy"}) {
      SCOPED_TRACE(method);
      EXPECT_TRUE(ask(method, params, context).empty());
    }
  for (const char* method :
       {"textDocument/rename", "textDocument/documentSymbol", "textDocument/foldingRange",
        "textDocument/selectionRange", "textDocument/documentLink"}) {
    SCOPED_TRACE(method);
    EXPECT_TRUE(ask(method, nowhere, context).empty());
  }
  EXPECT_EQ(ask("textDocument/rename", outside, context)["code"], -32803);
  EXPECT_EQ(ask("textDocument/rename", outside)["code"], -32602);
}

}  // namespace
}  // namespace quern::lsp_test
