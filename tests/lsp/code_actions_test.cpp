// textDocument/codeAction: a table of texts with a cursor, what is offered there, and the text after it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

struct ActionRow {
  const char* text;
  const char* title;
  const char* after;  ///< null: it is not offered
};

const ActionRow kActions[] = {
    // Fixes of diagnostics.
    {"/* 🙂 */ let %count = 1;\n%c$0ont", "write `%count`", "/* 🙂 */ let %count = 1;\n%count"},
    {"let %count = 1;\n%c$0ount", "write `%count`", nullptr},
    // Annotations.
    {"/* 漢 */ let %$0x = 1f;", "write the type: float32", "/* 漢 */ let %x: float32 = 1f;"},
    {"let %a = 1; let %x = 1f$0;", "write the type: float32", nullptr},
    {"def @f(%$0a: int32) { let %b = %a; %b }", "write every type of the declaration",
     "def @f(%a: int32) -> int32 { let %b: int32 = %a; %b }"},
    {"let %x: float$032 = 1f;", "remove the type of `%x`", "let %x = 1f;"},
    {"let %x: float$064 = 1.5;", "remove the type of `%x`", nullptr},
    {"let %x: float$032 = %nothing;", "remove the type of `%x`", nullptr},
    // One of each further kind.
    {"/* 漢🙂 */ def @f(%a: int32) {\n  let %$0x = %a + 1;\n  %x * 2\n}", "inline `%x`",
     "/* 漢🙂 */ def @f(%a: int32) {\n  (%a + 1) * 2\n}"},
    {"/* 漢🙂 */ def @f(%a: int32) { %$00 = %a + 1; %0 }", "make a `let` of `%0`",
     "/* 漢🙂 */ def @f(%a: int32) { let %sum = %a + 1; %sum }"},
    {"def @f(%o: Option[int32]) { \"🙂\"; match (%$0o) { None => 1 } }", "add the missing arms",
     "def @f(%o: Option[int32]) { \"🙂\"; match (%o) { None => 1, Some(_) => %todo } }"},
};

/// What is offered with an edit, at once or when it is asked for.
json offered(const TypedDocument<json>& document, const json& at, bool resolves) {
  const json context = {{"diagnostics", json::array()}};
  json actions = document.ask("textDocument/codeAction", {{"range", at}, {"context", context}});
  for (json& action : actions) {
    EXPECT_TRUE(resolves || action.contains("edit")) << action;
    if (action.contains("edit")) continue;
    const json answer = document.client.call("codeAction/resolve", action);
    EXPECT_TRUE(answer.contains("result")) << answer;
    action = answer.value("result", action);
  }
  return actions;
}

const json kResolves = {
    {"textDocument", {{"codeAction", {{"resolveSupport", {{"properties", json::array({"edit"})}}}}}}}};

TEST(LspCodeActions, Table) {
  std::vector<std::string> texts;
  for (const ActionRow& row : kActions) texts.emplace_back(row.text);
  for (const bool resolves : {false, true})
    EachClient<json>(resolves ? kResolves : json::object())
        .open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string& end) {
          const ActionRow& row = kActions[i];
          const json at = document.range(document.cursor, document.cursor);
          const json actions = offered(document, at, resolves);
          bool found = false;
          for (const json& action : actions) {
            if (action.at("title") != row.title) continue;
            found = true;
            ASSERT_NE(row.after, nullptr) << actions;
            EXPECT_EQ(document.after(action["edit"]["changes"].at(document.uri)), with_ends(row.after, end));
          }
          EXPECT_EQ(found, row.after != nullptr) << actions;
          // What was tried is taken back.
          EXPECT_EQ(offered(document, at, resolves), actions);
        });
}

TEST(LspCodeActions, AnEditOfAnotherTextIsRefused) {
  Client<json> client;
  client.initialize(kResolves);
  client.open("untitled:1", 1, "let %x: float64 = 1.5;\n%x");
  const json at = {{"line", 0}, {"character", 5}};
  const json params = {{"textDocument", {{"uri", "untitled:1"}}},
                       {"range", {{"start", at}, {"end", at}}},
                       {"context", {{"diagnostics", json::array()}}}};
  json actions = client.call("textDocument/codeAction", params)["result"];
  ASSERT_EQ(actions.size(), 1u) << actions;
  EXPECT_EQ(actions[0]["title"], "inline `%x`");
  // 1.5 alone is a float32.
  json refused = client.call("codeAction/resolve", actions[0]);
  EXPECT_EQ(refused["error"]["code"], -32803) << refused;
  client.change("untitled:1", 2, json::array({{{"text", "let %x = 1.5;\n%x"}}}));
  refused = client.call("codeAction/resolve", actions[0]);
  EXPECT_EQ(refused["error"]["code"], -32803) << refused;
  actions = client.call("textDocument/codeAction", params)["result"];
  json moved = actions[0];
  moved["data"]["begin"] = 4000000000U;
  moved["data"]["end"] = 7;
  EXPECT_TRUE(client.call("codeAction/resolve", moved).contains("result"));
  moved["data"]["name"] = "nothing";
  EXPECT_EQ(client.call("codeAction/resolve", moved)["error"]["code"], -32803);
  const json without = {{"title", "inline `%x`"}};
  EXPECT_EQ(client.call("codeAction/resolve", without)["result"], without);
  EXPECT_EQ(client.call("codeAction/resolve", {{"title", 1}, {"data", 2}})["error"]["code"], -32602);
}

TEST(LspCodeActions, OnlyTheKindsThatAreWanted) {
  Client<json> client;
  client.initialize();
  client.open("untitled:1", 1, "let %count = 1;\n%cont");
  auto kinds = [&](int line, int character, const std::string& only) {
    const json at = {{"line", line}, {"character", character}};
    const json context = {{"diagnostics", json::array()}, {"only", json::array({only})}};
    const json params = {{"textDocument", {{"uri", "untitled:1"}}},
                         {"range", {{"start", at}, {"end", at}}},
                         {"context", context}};
    const json actions = client.call("textDocument/codeAction", params)["result"];
    std::vector<std::string> found;
    for (const json& action : actions) found.push_back(action["kind"]);
    return found;
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(kinds(1, 1, "quickfix"), ElementsAre("quickfix"));
  EXPECT_THAT(kinds(1, 1, "refactor"), IsEmpty());
  EXPECT_THAT(kinds(0, 6, "refactor"), ElementsAre("refactor.rewrite"));
  EXPECT_THAT(kinds(0, 6, "refactor.inline"), IsEmpty());
  EXPECT_THAT(kinds(0, 6, "source"), IsEmpty());
  client.change("untitled:1", 2, json::array({{{"text", "let %count = 1;\n\nlet %other = 2;"}}}));
  EXPECT_THAT(kinds(0, 6, "source"), ElementsAre("source"));
}

}  // namespace
}  // namespace quern::lsp_test
