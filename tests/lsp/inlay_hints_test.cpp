// textDocument/inlayHint and its resolve: texts, and what they are with every hint that may be taken.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;

struct TakenRow {
  const char* text;
  const char* taken;
};

const TakenRow kTaken[] = {
    {"/* 漢🙂 */ let %x = ones((2, 3));\n\"🙂\"; let %y = 1;\n",
     "/* 漢🙂 */ let %x: Tensor[(2, 3), float32] = ones((2, 3));\n\"🙂\"; let %y: int32 = 1;\n"},
    {"def @f(/* é */ %a: int32) { %0 = %a; %0 }", "def @f(/* é */ %a: int32) -> int32 { %0 = %a; %0 }"},
    {"let %x = %nothing;\nlet %y = 1;", "let %x = %nothing;\nlet %y: int32 = 1;"},
    {"let (", "let ("},
    {"", ""},
};

TEST(LspInlayHints, WriteAnnotationsWhereTheyAreTaken) {
  std::vector<std::string> texts;
  for (const TakenRow& row : kTaken) texts.emplace_back(row.text);
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t i, const std::string& end) {
    const json all = document.range(0, static_cast<uint32_t>(document.text.size()));
    json edits = json::array();
    for (const json& hint : document.ask("textDocument/inlayHint", {{"range", all}})) {
      EXPECT_EQ(hint.at("kind"), 1);
      for (const json& edit : hint.value("textEdits", json::array())) {
        EXPECT_EQ(edit.at("range").at("start"), hint.at("position"));
        edits.push_back(edit);
      }
    }
    EXPECT_EQ(document.after(edits), with_ends(kTaken[i].taken, end));
  });
}

TEST(LspInlayHints, NamesOfAttributes) {
  const std::vector<std::string> texts{"/* 漢🙂 */ sum([1f], 0, True)"};
  EachClient<json>().open(texts, [&](const TypedDocument<json>& document, size_t, const std::string&) {
    const json all = document.range(0, static_cast<uint32_t>(document.text.size()));
    json edits = json::array();
    for (const json& hint : document.ask("textDocument/inlayHint", {{"range", all}})) {
      EXPECT_EQ(hint.at("kind"), 2);
      EXPECT_EQ(document.client.call("inlayHint/resolve", hint)["result"], hint);
      edits.push_back(hint.at("textEdits").at(0));
    }
    EXPECT_EQ(document.after(edits), "/* 漢🙂 */ sum([1f], axis=0, keepdims=True)");
  });
}

TEST(LspInlayHints, LongTypesAreWholeInTheirTooltips) {
  Client<json> client;
  client.initialize();
  client.open("untitled:1", 1,
              "let %x = (ones((2, 3)), ones((2, 3)), ones((2, 3)), ones((2, 3)));\nlet %y = 1;");
  auto hints = [&](int first, int last) {
    const json range = {{"start", {{"line", first}, {"character", 0}}},
                        {"end", {{"line", last}, {"character", 0}}}};
    return client.call("textDocument/inlayHint",
                       {{"textDocument", {{"uri", "untitled:1"}}}, {"range", range}})["result"];
  };
  const json found = hints(0, 1);
  ASSERT_EQ(found.size(), 1u) << found;
  EXPECT_TRUE(found[0]["label"].get<std::string>().ends_with("…"));
  const json resolved = client.call("inlayHint/resolve", found[0])["result"];
  const auto tooltip = resolved["tooltip"]["value"].get<std::string>();
  EXPECT_TRUE(tooltip.ends_with("Tensor[(2, 3), float32])\n```")) << tooltip;
  EXPECT_EQ(hints(1, 9).size(), 1u);
  EXPECT_EQ(
      client.call("textDocument/inlayHint", {{"textDocument", {{"uri", "untitled:1"}}}})["error"]["code"],
      -32602);
}

}  // namespace
}  // namespace quern::lsp_test
